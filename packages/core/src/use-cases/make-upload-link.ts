import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireWholeBytes } from '../model/require.ts'
import { linkAge, signLink, type Link, type LinkPolicy } from './link-policy.ts'

export interface UploadLinkOptions {
  /** Milliseconds for which an upload may begin by the link; a part of a second counts as a whole one. Default: an hour, or the most. */
  readonly expiresInMs?: number
  /** Whether the link is for all names that begin with the one given, and are longer. Default: for this one name. */
  readonly isPrefix?: boolean
  /**
   * How many files there may be whose names begin with the prefix, whoever has stored them: from then on the link stores none.
   * Only with `isPrefix`; 1 to 10,000. Default: 100. A link to one name stores one file anyway.
   */
  readonly maxFiles?: number
  /** The largest file, in bytes from 1. Default: no limit but that of the service. */
  readonly maxSize?: number
  /** Whether uploads may replace files. Default: no, they may only create. */
  readonly replace?: boolean
}

const mostFiles = 10_000
const usualFiles = 100

/**
 * Makes a link by which whoever has it may upload the customer's file `name`, or files whose names begin so. Nothing is
 * stored, and the link ends with the customer's password.
 *
 * @throws TypeError or RangeError that names the option that is wrong
 * @throws FileServiceError `invalid-file-name`, `store-unavailable`; `already-exists` for a link to one name, which may not
 *   be replaced and is taken; `invalid-credentials` for a customer who is not in the credential source
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
  return signLink(policy, { verb: 'upload', customer: customer.name, name, linkOptions }, ageMs)
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

/** What the maker of a link to upload has set. */
interface UploadLinkBounds {
  /** How many of the first code units of a name are signed; the rest is the uploader's choice. `undefined`: the whole name. */
  readonly prefixLength?: number
  /** How many files there may be whose names begin so. */
  readonly maxFiles?: number
  /** The largest file in bytes. */
  readonly maxSize?: number
  /** Whether an upload may replace a file. */
  readonly replace: boolean
}

const form = /^(?:p([1-9]\d{0,2})n([1-9]\d{0,4}))?(?:s([1-9]\d{0,15}))?(r?)$/u

/** The one text that says these bounds. */
function writeUploadLinkBounds(bounds: UploadLinkBounds): string {
  const { prefixLength, maxFiles, maxSize, replace } = bounds
  const prefix = prefixLength === undefined ? '' : `p${prefixLength}n${maxFiles}`
  const size = maxSize === undefined ? '' : `s${maxSize}`
  return `${prefix}${size}${replace ? 'r' : ''}`
}

/** The bounds that `text` says; `undefined` if it is none of {@link writeUploadLinkBounds}. */
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
