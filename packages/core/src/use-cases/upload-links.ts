import type { KeyedCounter, UseCounter, RevocableLocks, HeldLock } from '../model/concurrency.ts'
import { loginName, type Customer, hasRights } from '../model/customer.ts'
import { FileServiceError, nameTaken } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireWholeBytes } from '../model/require.ts'
import type { UploadContent } from '../model/upload-content.ts'
import type { PrefixCounts, FilesUnderPrefix } from '../policy/prefix-counts.ts'
import { withoutNumbers, linkExceeded } from '../policy/quota-accounts.ts'
import { endUnused, type QuotaClaim } from '../policy/quota-claim.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { BlobInfo } from '../ports/blob.ts'
import {
  linkAge,
  signLink,
  type Link,
  type LinkPolicy,
  judgeLink,
  linkRefused,
  type PresentedLink,
} from './links.ts'
import { resumableByLink, type ResumableByLink } from './resumable-by-link.ts'
import type { ResumableFiles } from './resumable-files.ts'
import type { ResumablePolicy } from './resumable-policy.ts'
import { uploadFile, type UploadOptions, type UploadPolicy } from './upload-file.ts'

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
    throw nameTaken()
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

/** What is needed to open links to upload. */
export interface UploadLinkPolicy extends LinkPolicy {
  readonly upload: UploadPolicy
  /** `undefined` if the store does not support uploads in pieces. */
  readonly resumable: ResumablePolicy | undefined
  /** Locks by customer: only one upload at a time may count the files and be published. */
  readonly publishLocks: RevocableLocks
  /** Counts the files under the prefixes of links. */
  readonly counts: PrefixCounts
  readonly underWay: LinkUploadsUnderWay
  /** Counts the requests that add bytes to uploads in pieces by links, by upload. */
  readonly growingUploads: UseCounter
  /** Called when an upload has been published. */
  onUploaded(customer: Customer, file: BlobInfo): void
}

/** What this process's uploads by links have under way. */
interface LinkUploadsUnderWay {
  /** Counts the uploads, by customer and the link's name or prefix. */
  readonly uploads: KeyedCounter
  /** Counts the requests of uploads in pieces, by customer and upload. */
  readonly requests: KeyedCounter
}

/** Everything that a link to upload allows. */
export interface LinkUploads {
  readonly customer: Customer
  /** The name to upload; with `isPrefix`, the prefix of names. */
  readonly name: string
  readonly isPrefix: boolean
  /** How many files with the prefix there may be; 1 for a link to one name. */
  readonly maxFiles: number
  /** The largest file in bytes: the smaller limit of the link and the service. */
  readonly maxSize: number | undefined
  /** Whether uploads may replace files. */
  readonly replace: boolean
  /** When the link becomes invalid. */
  readonly expiresAt: Date
  /** Whether the link stores no new file, because its only name is taken and may not be replaced, or there are `maxFiles`. */
  isUsedUp(): Promise<boolean>
  /**
   * Stores a file as `uploadFile` does, within the limits of the link. The quota counts only bytes that arrive.
   * @throws FileServiceError `invalid-file-name` for a name that the link is not for; `overloaded` if too many uploads by links to
   *   the same name or prefix are under way; `quota-exceeded` also if there are `maxFiles`, without the customer's numbers; and as
   *   `uploadFile` does
   */
  upload(name: string, content: UploadContent, options?: UploadOptions): Promise<BlobInfo>
  /** Uploads in pieces within the same limits, if the store supports them; see `resumableByLink`. */
  readonly resumable?: ResumableFiles
}

/**
 * How many uploads by links to one prefix may be under way at a time, so that clients that send little and slowly do not take all
 * slots of a customer's links. A link to one name, or with fewer `maxFiles`, has no more than it may store.
 */
const mostAtOnce = 8

const retryAfterMs = 1_000

/**
 * Checks a link to upload, and resolves with what it allows; see `judgeLink`. The `name` of `link` may be any for which the link is:
 * the whole name, the prefix, or a name with the prefix. An upload that has begun may end after the link has expired.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function openUploadLink(
  policy: UploadLinkPolicy,
  link: PresentedLink,
): Promise<LinkUploads> {
  const { customer, linkOptions, expires } = await judgeLink(policy, 'upload', link, signedPart)
  const set = readUploadLinkBounds(linkOptions)
  if (set === undefined) throw linkRefused()
  const { prefixLength, maxFiles = 1, maxSize = Infinity } = set
  const replace = set.replace && hasRights(customer, 'replace')
  const isPrefix = prefixLength !== undefined
  const start = signedPart(link.name, linkOptions)
  const { store, maxFileSize, keeps } = policy.upload
  const quotas = withoutReservations(policy.upload.quotas)
  const most = Math.min(maxFiles, mostAtOnce)
  // Names have no slash, so a prefix and a name never have the same key.
  const boundedName = `${customer.name}/${start}${isPrefix ? '/' : ''}`
  const largest = Math.min(maxFileSize, maxSize)
  const maker = customer.login === undefined ? '' : `${customer.login}/`
  const bounded: UploadPolicy = {
    store,
    keeps,
    quotas: isPrefix
      ? limitFilesUnder(
          { prefix: start, maxFiles },
          { quotas, store, counts: policy.counts, publishLocks: policy.publishLocks },
        )
      : quotas,
    maxFileSize: largest,
  }
  const bounds = {
    customer,
    check(name: string) {
      checkFileName(name)
      const isMeant = isPrefix ? name.startsWith(start) && name !== start : name === start
      // The link is valid, so its user may learn what is wrong.
      if (!isMeant) throw notMeant(name === start)
    },
    inSlot: boundedBy(policy.underWay, boundedName, most),
  }
  return {
    customer,
    name: start,
    isPrefix,
    maxFiles,
    maxSize: largest === Infinity ? undefined : largest,
    replace,
    expiresAt: new Date(expires * 1000),
    async isUsedUp() {
      if (isPrefix)
        return !(await policy.counts.hasRoom(customer.name, { prefix: start, maxFiles }))
      return !replace && (await store.stat({ customer: customer.name, name: start })) !== undefined
    },
    async upload(name, content, options = {}) {
      bounds.check(name)
      const createOnly = options.createOnly === true || !replace
      return bounds.inSlot(async () => {
        const file = await uploadFile(bounded, customer, name, content, { ...options, createOnly })
        policy.onUploaded(customer, file)
        return file
      })
    },
    ...(policy.resumable && {
      resumable: resumableByLink(policy.resumable, bounded, {
        ...bounds,
        link: `${maker}${expires.toString(36)}.${linkOptions}.${start}`,
        endsInMs: expires * 1000 - policy.now(),
        replace,
        most,
        publishLocks: policy.publishLocks,
        growingUploads: policy.growingUploads,
        now: policy.now,
      }),
    }),
  }
}

/**
 * Makes claims in `quotas` that reserve nothing: otherwise a client that announces much and sends little could block the customer.
 * An announced size that does not fit is still refused at once.
 */
function withoutReservations(quotas: Pick<QuotaKeeper, 'claim'>): Pick<QuotaKeeper, 'claim'> {
  return {
    async claim(customer, name, size = 0, upload) {
      if (size > 0) endUnused(await quotas.claim(customer, name, size, upload))
      return quotas.claim(customer, name, 0, upload)
    },
  }
}

/** Makes a function that runs at most `most` works of the link `key` at a time. No error has the customer's numbers. */
function boundedBy(
  { uploads, requests }: LinkUploadsUnderWay,
  key: string,
  most: number,
): ResumableByLink['inSlot'] {
  const enter = () => {
    if (uploads.count(key) >= most) {
      const message = `${most} upload(s) by the link are under way already`
      throw new FileServiceError('overloaded', message, { retryAfterMs })
    }
    uploads.change(key, 1)
  }
  return async (work, upload) => {
    if (upload === undefined || requests.count(upload) === 0) enter()
    if (upload !== undefined) requests.change(upload, 1)
    try {
      return await work()
    } catch (error) {
      throw withoutNumbers(error)
    } finally {
      if (upload === undefined || requests.change(upload, -1) === 0) uploads.change(key, -1)
    }
  }
}

function notMeant(isIncomplete: boolean): FileServiceError {
  const names = isIncomplete ? 'longer names that begin with this one' : 'other names'
  return new FileServiceError('invalid-file-name', `Invalid filename: the link is for ${names}`)
}

function signedPart(name: string, linkOptions: string): string {
  return name.slice(0, readUploadLinkBounds(linkOptions)?.prefixLength)
}

/** What is needed to enforce the limit of files. */
interface CountedUploads {
  readonly quotas: Pick<QuotaKeeper, 'claim'>
  readonly store: Pick<BlobStore, 'stat'>
  readonly counts: PrefixCounts
  /** Locks by customer: only one upload at a time counts the files and is published. */
  readonly publishLocks: RevocableLocks
}

/**
 * Makes claims in `quotas` that also enforce the limit of files: a claim is refused if there are `maxFiles` already, unless the
 * upload replaces one of them. The files are counted when the upload begins, to spare the client a useless upload, and again under
 * the lock, right before it is published. A cached count is used unless another service has held the lock meanwhile.
 */
function limitFilesUnder(
  bound: FilesUnderPrefix,
  { quotas, store, counts, publishLocks }: CountedUploads,
): Pick<QuotaKeeper, 'claim'> {
  /** Each earlier holder who has lost the lock counts as one file, since it may still publish. */
  const check = async ({ name: customer }: Customer, name: string, lostHolders: number) => {
    const maxFiles = bound.maxFiles - lostHolders
    if (maxFiles > 0 && (await counts.hasRoom(customer, { ...bound, maxFiles }))) return
    if (await store.stat({ customer, name })) return
    throw linkExceeded(bound.maxFiles)
  }
  return {
    async claim(customer, name, size, upload) {
      await check(customer, name, 0)
      const claim = await quotas.claim(customer, name, size, upload)
      return publishLocked(claim, {
        take: () => publishLocks(customer.name),
        async check({ isSameHolder, lostHolders }) {
          if (!isSameHolder) counts.forget(customer.name)
          await check(customer, name, lostHolders)
        },
        onPublished: () => counts.add(customer.name, name),
        onUnknown: () => counts.forget(customer.name),
      })
    },
  }
}

interface LockedWork {
  readonly take: () => Promise<HeldLock>
  /** Called under the lock, before the upload is published. */
  readonly check: (lock: HeldLock) => Promise<void>
  /** Called under the lock, after the upload was published. */
  readonly onPublished: () => void
  /** Called under the lock if it is not known whether the upload was published. */
  readonly onUnknown: () => void
}

/** `claim`, which takes the lock before the upload may be published, and releases the lock when it ends. */
function publishLocked(
  claim: QuotaClaim,
  { take, check, onPublished, onUnknown }: LockedWork,
): QuotaClaim {
  let release = () => {}
  let isPublishing = false
  let hasEnded = false
  return {
    grow: (bytes) => claim.grow(bytes),
    stage: (offset) => claim.stage(offset),
    async prepare() {
      const lock = await take()
      // The upload may have been cancelled during the wait.
      if (hasEnded) return lock.release()
      release = lock.release
      await check(lock)
      await claim.prepare()
      isPublishing = true
    },
    settle() {
      claim.settle()
      onPublished()
      isPublishing = false
    },
    end() {
      if (isPublishing) onUnknown()
      isPublishing = false
      hasEnded = true
      claim.end()
      release()
    },
  }
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
function readUploadLinkBounds(text: string): UploadLinkBounds | undefined {
  const [whole, prefixLength, maxFiles, maxSize, replace] = form.exec(text) ?? []
  if (whole === undefined) return undefined
  return {
    ...(prefixLength !== undefined && { prefixLength: Number(prefixLength) }),
    ...(maxFiles !== undefined && { maxFiles: Number(maxFiles) }),
    ...(maxSize !== undefined && { maxSize: Number(maxSize) }),
    replace: replace === 'r',
  }
}
