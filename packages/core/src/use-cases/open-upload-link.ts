import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { KeyedCounter, UseCounter } from '../model/keyed-counter.ts'
import type { KeyedTurns, Turn } from '../model/keyed-lock.ts'
import type { UploadContent } from '../model/upload-content.ts'
import type { PrefixCounts, FilesUnderPrefix } from '../policy/prefix-counts.ts'
import { withoutNumbers, linkExceeded } from '../policy/quota-accounts.ts'
import type { QuotaClaim } from '../policy/quota-claim.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { judgeLink, linkRefused, type LinkPolicy, type PresentedLink } from './link-policy.ts'
import { readUploadLinkBounds } from './make-upload-link.ts'
import { resumableByLink, type ResumableByLink } from './resumable-by-link.ts'
import type { ResumableFiles } from './resumable-files.ts'
import type { ResumablePolicy } from './resumable-policy.ts'
import { uploadFile, type UploadOptions, type UploadPolicy } from './upload-file.ts'

/** What a link to upload is judged by. */
export interface UploadLinkPolicy extends LinkPolicy {
  readonly upload: UploadPolicy
  /** Left out where the store keeps no uploads in pieces. */
  readonly resumable: ResumablePolicy | undefined
  /** By customer: one upload at a time may count the files and be published. */
  readonly publishLocks: KeyedTurns
  /** How many files there are under the prefixes of links. */
  readonly counts: PrefixCounts
  /** The uploads of this process under way by links, by what those are for; and the requests of those in pieces, by upload. */
  readonly underWay: KeyedCounter
  /** The requests that add to uploads in pieces by links, by upload. */
  readonly growingUploads: UseCounter
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
  /** Whether the link stores no new file: its one name is taken and may not be replaced, or there are `maxFiles`. */
  isUsedUp(): Promise<boolean>
  /**
   * Stores a file as `uploadFile` does, within the bounds of the link. Only bytes that arrive count in the quota.
   * @throws FileServiceError `invalid-file-name` for a name that the link is not for; `overloaded` where as many uploads by links
   *   to the same are under way as may be; `quota-exceeded` also where there are `maxFiles`, without numbers of the
   *   customer's; and what `uploadFile` throws
   */
  upload(name: string, content: UploadContent, options?: UploadOptions): Promise<BlobInfo>
  /** Uploads in pieces within the same bounds, where the store keeps them; see `resumableByLink`. */
  readonly resumable?: ResumableFiles
}

/**
 * Uploads by links to one prefix that may be under way at a time, so that strangers who send little and slowly do not take all
 * the slots of a customer's links. Of links to one name, and with fewer `maxFiles`, no more than they may store.
 */
const mostAtOnce = 8

const retryAfterMs = 1_000

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
  const { customer, linkOptions, expires } = await judgeLink(policy, 'upload', link, signedPart)
  const set = readUploadLinkBounds(linkOptions)
  if (set === undefined) throw linkRefused()
  const { prefixLength, maxFiles = 1, maxSize = Infinity, replace } = set
  const isPrefix = prefixLength !== undefined
  const start = signedPart(link.name, linkOptions)
  const { store, maxFileSize } = policy.upload
  const quotas = withoutReservations(policy.upload.quotas)
  const most = Math.min(maxFiles, mostAtOnce)
  // No name has a slash.
  const boundedName = `${customer.name}/${start}${isPrefix ? '/' : ''}`
  const largest = Math.min(maxFileSize, maxSize)
  const bounded: UploadPolicy = {
    store,
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
      // The link is right, so that its holder may learn what is wrong.
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
        link: `${expires.toString(36)}.${linkOptions}.${start}`,
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

/** Slots for `most` at a time, which `underWay` counts by `key`. No error has numbers of the customer's. */
function boundedBy(underWay: KeyedCounter, key: string, most: number): ResumableByLink['inSlot'] {
  const enter = () => {
    if (underWay.count(key) >= most) {
      const message = `${most} upload(s) by the link are under way already`
      throw new FileServiceError('overloaded', message, { retryAfterMs })
    }
    underWay.change(key, 1)
  }
  return async (work, upload) => {
    if (upload === undefined || underWay.count(upload) === 0) enter()
    if (upload !== undefined) underWay.change(upload, 1)
    try {
      return await work()
    } catch (error) {
      throw withoutNumbers(error)
    } finally {
      if (upload === undefined || underWay.change(upload, -1) === 0) underWay.change(key, -1)
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

/** What the bound is kept with. */
interface CountedUploads {
  readonly quotas: Pick<QuotaKeeper, 'claim'>
  readonly store: Pick<BlobStore, 'stat'>
  readonly counts: PrefixCounts
  /** By customer: one upload at a time counts and is published. */
  readonly publishLocks: KeyedTurns
}

/**
 * Claims in `quotas` that also keep the bound: each is refused where there are `maxFiles` already, unless the upload replaces
 * one of them. The files are counted when the upload begins, which spares the client a useless upload, and when it is about to
 * be published, in its turn. A count that is kept is good enough, unless another service has had a turn meanwhile.
 */
function limitFilesUnder(
  bound: FilesUnderPrefix,
  { quotas, store, counts, publishLocks }: CountedUploads,
): Pick<QuotaKeeper, 'claim'> {
  /** What an earlier turn is about to publish counts as a file. */
  const check = async ({ name: customer }: Customer, name: string, unended: number) => {
    const maxFiles = bound.maxFiles - unended
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
        async check({ isNext, unended }) {
          if (!isNext) counts.forget(customer.name)
          await check(customer, name, unended)
        },
        onPublished: () => counts.add(customer.name, name),
        onUnknown: () => counts.forget(customer.name),
      })
    },
  }
}

interface LockedWork {
  readonly take: () => Promise<Turn>
  /** Called in the turn, before the upload is published. */
  readonly check: (turn: Turn) => Promise<void>
  /** Called in the turn, once the upload has been published. */
  readonly onPublished: () => void
  /** Called in the turn where it is not known whether the upload has been published. */
  readonly onUnknown: () => void
}

/** `claim`, which takes its turn before it lets the upload be published, and ends its turn with itself. */
function publishLocked(
  claim: QuotaClaim,
  { take, check, onPublished, onUnknown }: LockedWork,
): QuotaClaim {
  let endTurn = () => {}
  let isPublishing = false
  let hasEnded = false
  return {
    grow: (bytes) => claim.grow(bytes),
    stage: (offset) => claim.stage(offset),
    async prepare() {
      const turn = await take()
      // The upload may have been given up during the wait.
      if (hasEnded) return turn.end()
      endTurn = turn.end
      await check(turn)
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
      endTurn()
    },
  }
}
