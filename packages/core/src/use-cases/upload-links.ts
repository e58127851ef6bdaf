import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { KeyedCounter } from '../model/keyed-counter.ts'
import type { KeyedLock } from '../model/keyed-lock.ts'
import { requireWholeBytes } from '../model/require.ts'
import type { UploadContent } from '../model/upload-content.ts'
import { limitFilesUnder } from '../policy/files-under-prefix.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import {
  judgeLink,
  linkAge,
  linkRefused,
  signLink,
  type Link,
  type LinkPolicy,
  type PresentedLink,
} from './link-policy.ts'
import { resumableByLink } from './resumable-by-link.ts'
import type { ResumableFiles } from './resumable-files.ts'
import type { ResumablePolicy } from './resumable-policy.ts'
import { uploadFile, type UploadOptions, type UploadPolicy } from './upload-file.ts'
import { readUploadWishes, writeUploadWishes } from './upload-link-wishes.ts'

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

/** What a link to upload is made and judged by. */
export interface UploadLinkPolicy extends LinkPolicy {
  readonly upload: UploadPolicy
  /** Left out where the store keeps no uploads in pieces. */
  readonly resumable: ResumablePolicy | undefined
  /** By customer: one upload at a time may count the files and be published. */
  readonly turns: KeyedLock
  /** The uploads under way by links, by what those are for; and those in pieces by themselves. */
  readonly underWay: KeyedCounter
  /** Called when an upload has been published. */
  onUploaded(customer: Customer, file: BlobInfo): void
}

/** All that a stranger may do by a link to upload. */
export interface LinkUploads {
  readonly customer: Customer
  /** The name to upload; with `isPrefix`, what names must begin with. */
  readonly name: string
  readonly isPrefix: boolean
  /** How many files there may be whose names begin with the prefix; 1 for a link to one name. */
  readonly maxFiles: number
  /** The largest file in bytes, by the link or by the service. */
  readonly maxSize: number | undefined
  /** Whether uploads may replace files. */
  readonly replace: boolean
  /** From then on the link is worth nothing. */
  readonly expiresAt: Date
  /**
   * Stores a file as `uploadFile` does, within the bounds of the link. Only bytes that arrive count in the quota.
   * @throws FileServiceError `link-refused` for a name that the link is not for; `overloaded` where as many uploads by links
   *   to the same are under way as may be; `quota-exceeded` also where there are `maxFiles`; and what `uploadFile` throws
   */
  upload(name: string, content: UploadContent, options?: UploadOptions): Promise<BlobInfo>
  /** Uploads in pieces within the same bounds, where the store keeps them; see `resumableByLink`. */
  readonly resumable?: ResumableFiles
}

const mostFiles = 10_000
const usualFiles = 100

/**
 * Uploads by links to one prefix that may be under way at a time, so that strangers who send little and slowly do not take all
 * the places of a customer's links. Of links to one name, and with fewer `maxFiles`, no more than they may store.
 */
const mostAtOnce = 8

const retryAfterMs = 1_000

/**
 * Makes a link by which whoever has it may upload the customer's file `name`, or files whose names begin so. Nothing is
 * stored, and the link ends with the customer's password.
 *
 * @throws TypeError or RangeError that names the option that is wrong
 * @throws FileServiceError `invalid-file-name`, `store-unavailable`; `already-exists` for a link to one name, which may not
 *   be replaced and is taken; `invalid-credentials` for a customer who is not in the credential source
 */
export async function makeUploadLink(
  policy: UploadLinkPolicy,
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
  const wishes = writeUploadWishes({
    ...(isPrefix && { prefixLength: name.length, maxFiles: options.maxFiles ?? usualFiles }),
    ...(maxSize !== undefined && { maxSize }),
    replace,
  })
  return signLink(policy, { verb: 'upload', customer: customer.name, name, wishes }, ageMs)
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

/**
 * What a link to upload allows, if it is right; see `judgeLink`. `name` is any that the link is for: the whole name, the
 * prefix, or a name that begins so. An upload that has begun may end after the link has expired.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function openUploadLink(
  policy: UploadLinkPolicy,
  link: PresentedLink,
): Promise<LinkUploads> {
  const { customer, wishes, expires } = await judgeLink(policy, 'upload', link, signedPart)
  const set = readUploadWishes(wishes)
  if (set === undefined) throw linkRefused()
  const { prefixLength, maxFiles = 1, maxSize = Infinity, replace } = set
  const isPrefix = prefixLength !== undefined
  const start = signedPart(link.name, wishes)
  const { store, maxFileSize } = policy.upload
  const quotas = withoutReservations(policy.upload.quotas)
  const most = Math.min(maxFiles, mostAtOnce)
  // No name has a slash.
  const place = `${customer.name}/${start}${isPrefix ? '/' : ''}`
  const largest = Math.min(maxFileSize, maxSize)
  const bounded: UploadPolicy = {
    store,
    quotas: isPrefix
      ? limitFilesUnder({ prefix: start, maxFiles }, { quotas, store, turns: policy.turns })
      : quotas,
    maxFileSize: largest,
  }
  const bounds = {
    customer,
    check(name: string) {
      checkFileName(name)
      const isMeant = isPrefix ? name.startsWith(start) && name !== start : name === start
      if (!isMeant) throw linkRefused()
    },
    takePlace: () => takePlace(policy.underWay, place, most),
  }
  return {
    customer,
    name: start,
    isPrefix,
    maxFiles,
    maxSize: largest === Infinity ? undefined : largest,
    replace,
    expiresAt: new Date(expires * 1000),
    async upload(name, content, options = {}) {
      bounds.check(name)
      const createOnly = options.createOnly === true || !replace
      const leave = bounds.takePlace()
      try {
        const file = await uploadFile(bounded, customer, name, content, { ...options, createOnly })
        policy.onUploaded(customer, file)
        return file
      } finally {
        leave()
      }
    },
    ...(policy.resumable && {
      resumable: resumableByLink(policy.resumable, bounded, {
        ...bounds,
        link: `${expires.toString(36)}.${wishes}.${start}`,
        endsInMs: expires * 1000 - policy.now(),
        replace,
        most,
        turns: policy.turns,
        underWay: policy.underWay,
        now: policy.now,
      }),
    }),
  }
}

/**
 * Claims in `quotas` that reserve nothing: a stranger who announces much and sends little would keep the customer out. What
 * would not fit is refused beforehand all the same.
 */
function withoutReservations(quotas: Pick<QuotaKeeper, 'claim'>): Pick<QuotaKeeper, 'claim'> {
  return {
    async claim(customer, name, size = 0, upload) {
      if (size > 0) (await quotas.claim(customer, name, size, upload)).end()
      return quotas.claim(customer, name, 0, upload)
    },
  }
}

function takePlace(underWay: KeyedCounter, key: string, most: number): () => void {
  if (underWay.count(key) >= most) {
    const message = `${most} upload(s) by the link are under way already`
    throw new FileServiceError('overloaded', message, { retryAfterMs })
  }
  underWay.change(key, 1)
  return () => void underWay.change(key, -1)
}

function signedPart(name: string, wishes: string): string {
  return name.slice(0, readUploadWishes(wishes)?.prefixLength)
}
