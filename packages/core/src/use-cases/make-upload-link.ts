import { loginName, type Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireWholeBytes } from '../model/require.ts'
import { linkAge, signLink, type Link, type LinkPolicy } from './link-policy.ts'

export interface UploadLinkOptions {
  /**
   * How long uploads may begin by the link, in milliseconds, rounded up to whole seconds. Default: an hour, or the longest time if
   * that is shorter.
   */
  readonly expiresInMs?: number
  /** Whether the link is for all longer names that begin with the given one. Default: for this name only. */
  readonly isPrefix?: boolean
  /**
   * The link stores no new file when so many files have the prefix, also if the customer or other links have stored them. Only with
   * `isPrefix`; 1 to 10,000. Default: 100. A link to one name stores only one file.
   */
  readonly maxFiles?: number
  /** The largest file, in bytes, 1 or more. Default: only the service's limit. */
  readonly maxSize?: number
  /** Whether uploads may replace files. Default: no, they may only create. */
  readonly replace?: boolean
}

const mostFiles = 10_000
const usualFiles = 100

/**
 * Makes a link by which everyone who has it may upload the customer's file `name`, or files whose names begin with `name`. Nothing
 * is stored, and the link becomes invalid when the password of the login that makes it changes, that login ends or loses the rights `link`
 * and `create`, or the customer ends all links. If the login loses `replace`, the link only creates.
 *
 * @throws TypeError or RangeError that names the option that is wrong
 * @throws FileServiceError `invalid-file-name`, `store-unavailable`; `already-exists` for a link to one name if a file has it and may
 *   not be replaced; `invalid-credentials` for a customer whom the credential source does not know
 */
export async function makeUploadLink(
  policy: LinkPolicy,
  customer: Customer,
  name: string,
  options: UploadLinkOptions = {},
): Promise<Link> {
  const { expiresInMs, isPrefix = false, maxSize, replace = false } = options
  const ageMs = linkAge(policy, expiresInMs)
  checkBounds(options)
  checkFileName(name)
  if (!isPrefix && !replace && (await policy.store.stat({ customer: customer.name, name }))) {
    throw new FileServiceError('already-exists', 'The name is taken')
  }
  const linkOptions = writeUploadLinkBounds({
    ...(isPrefix && { prefixLength: name.length, maxFiles: options.maxFiles ?? usualFiles }),
    ...(maxSize !== undefined && { maxSize }),
    replace,
  })
  return signLink(policy, { verb: 'upload', login: loginName(customer), name, linkOptions }, ageMs)
}

function checkBounds({ isPrefix = false, maxFiles, maxSize }: UploadLinkOptions): void {
  if (maxSize !== undefined) {
    requireWholeBytes('maxSize', maxSize)
    if (maxSize < 1) throw new RangeError('maxSize must be 1 or more bytes, not 0')
  }
  if (maxFiles === undefined) return
  if (!isPrefix) throw new TypeError('maxFiles is for a link to a prefix')
  if (Number.isInteger(maxFiles) && maxFiles >= 1 && maxFiles <= mostFiles) return
  throw new RangeError(`maxFiles must be a whole number from 1 to ${mostFiles}, not ${maxFiles}`)
}

/** The limits that the maker of a link to upload has set. */
interface UploadLinkBounds {
  /** How many code units at the start of a name are signed; the uploader chooses the rest. `undefined`: the whole name is signed. */
  readonly prefixLength?: number
  /** How many files with the prefix there may be. */
  readonly maxFiles?: number
  /** The largest file in bytes. */
  readonly maxSize?: number
  /** Whether an upload may replace a file. */
  readonly replace: boolean
}

const form = /^(?:p([1-9]\d{0,2})n([1-9]\d{0,4}))?(?:s([1-9]\d{0,15}))?(r?)$/u

/** The limits as text; for each value there is only one text. */
function writeUploadLinkBounds(bounds: UploadLinkBounds): string {
  const { prefixLength, maxFiles, maxSize, replace } = bounds
  const prefix = prefixLength === undefined ? '' : `p${prefixLength}n${maxFiles}`
  const size = maxSize === undefined ? '' : `s${maxSize}`
  return `${prefix}${size}${replace ? 'r' : ''}`
}

/** The limits in a text of {@link writeUploadLinkBounds}; `undefined` for any other text. */
export function readUploadLinkBounds(text: string): UploadLinkBounds | undefined {
  const [whole, prefixLength, maxFiles, maxSize, replace] = form.exec(text) ?? []
  if (whole === undefined) return undefined
  return {
    ...(prefixLength !== undefined && { prefixLength: Number(prefixLength) }),
    ...(maxFiles !== undefined && { maxFiles: Number(maxFiles) }),
    ...(maxSize !== undefined && { maxSize: Number(maxSize) }),
    replace: replace === 'r',
  }
}
