import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import type { UseCounter, RevocableLocks } from '../model/concurrency.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { resumableFiles, type ResumableFiles } from './resumable-files.ts'
import { discardUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'
import type { UploadPolicy } from './upload-file.ts'

/** The limits of uploads in pieces by one link. */
export interface ResumableByLink {
  readonly customer: Customer
  /** An id that distinguishes the link from the customer's other links. */
  readonly link: string
  /** Milliseconds until the link expires. */
  readonly endsInMs: number
  readonly replace: boolean
  /** How many of the link's uploads may be unfinished. */
  readonly most: number
  /** Locks by customer: only one upload at a time is begun. */
  readonly publishLocks: RevocableLocks
  /** Counts the requests that add bytes to uploads, by `growingKey`. */
  readonly growingUploads: UseCounter
  readonly now: () => number
  /** @throws FileServiceError `invalid-file-name` for a name that is not allowed, or that the link is not for */
  check(name: string): void
  /**
   * Runs `work` in a slot. Requests of one `upload` share a slot: the earlier one still has it when a later one ends it.
   * @throws FileServiceError `overloaded` if all slots are taken
   */
  readonly inSlot: <Result>(work: () => Promise<Result>, upload?: string) => Promise<Result>
}

/** After how long without a change an unfinished upload may be discarded to make room for another one, in milliseconds. */
const idleMs = 2 * 60_000

/**
 * How long the store remembers an upload by a link that may replace files, at most, in milliseconds. Such a link may publish any
 * number of uploads, and no quota counts the records of them.
 */
const longestReplacingMs = 60 * 60_000

const retryAfterMs = 10_000

/**
 * The uploads in pieces that were begun by one link. `bounded` is the policy for whole files by the link. An upload that never
 * changes expires at the latest when the link does. Each change extends that by the same time, but after the link has expired no
 * one can continue the upload.
 *
 * `begin` also throws `invalid-file-name` for a name that the link is not for. If too many of the link's uploads are unfinished, it
 * discards the one that has not changed for longest; it throws `overloaded` if all have changed recently or are growing.
 */
export function resumableByLink(
  policy: ResumablePolicy,
  bounded: UploadPolicy,
  bounds: ResumableByLink,
): ResumableFiles {
  const { customer, link, replace, inSlot } = bounds
  const { uploads } = policy
  const strict: ResumablePolicy = {
    ...policy,
    link,
    maxFileSize: bounded.maxFileSize,
    quotas: withClaims(policy.quotas, bounded.quotas),
    uploadExpiryMs: Math.max(
      1,
      Math.min(policy.uploadExpiryMs, bounds.endsInMs, replace ? longestReplacingMs : Infinity),
    ),
  }
  const files = resumableFiles(strict, customer)
  const isOwn = ({ plan }: ResumableUpload) => plan.link === link
  const createOnly = (asked: boolean | undefined) => asked === true || !replace

  /**
   * @throws FileServiceError `upload-not-found` for an upload that was not begun by this link, or that was to replace a file before the
   *   login of the link lost the right to
   */
  const requireOwn = async (id: string) => {
    const upload = await uploads.state(uploadKey(customer, id))
    if (upload === undefined || !isOwn(upload)) throw uploadNotFound()
    if (!replace && upload.plan.createOnly !== true) throw uploadNotFound()
  }

  return {
    async begin(name, options = {}) {
      bounds.check(name)
      const begin = () =>
        files.begin(name, { ...options, createOnly: createOnly(options.createOnly) })
      // An empty upload is published at once, and that takes the same lock.
      if (options.length === 0) return inSlot(begin)
      return inSlot(async () => {
        const lock = await bounds.publishLocks(customer.name)
        try {
          await makeRoom(strict, bounds, isOwn, lock.lostHolders)
          return await begin()
        } finally {
          lock.release()
        }
      })
    },
    async uploadWhole(name, content, options) {
      bounds.check(name)
      const only = { ...options, createOnly: createOnly(options.createOnly) }
      return inSlot(() => files.uploadWhole(name, content, only))
    },
    async state(id) {
      await requireOwn(id)
      return files.state(id)
    },
    async digest(id, offset, options) {
      await requireOwn(id)
      return inSlot(() => files.digest(id, offset, options), growingKey(customer, id))
    },
    async append(id, offset, content, options) {
      await requireOwn(id)
      const key = growingKey(customer, id)
      return inSlot(async () => {
        bounds.growingUploads.change(key, 1)
        try {
          return await files.append(id, offset, content, options)
        } finally {
          bounds.growingUploads.change(key, -1)
        }
      }, key)
    },
    async publish(id, options) {
      await requireOwn(id)
      return inSlot(() => files.publish(id, options), growingKey(customer, id))
    },
    async discard(id) {
      await requireOwn(id)
      return files.discard(id)
    },
    async *list() {
      for await (const page of files.list()) yield page.filter(isOwn)
    },
  }
}

/** The key of an upload in the counters. The name of a customer has no slash. */
function growingKey(customer: Customer, id: string): string {
  return `${customer.name}/${id}`
}

/**
 * If there are too many unfinished uploads for another one, discards the link's upload that has not changed for longest. Each
 * of the `lostHolders` of the lock counts as one upload, since it may still begin one. An upload to which a request is adding bytes
 * is kept: a store may record a change only after many megabytes, which take minutes on a slow connection.
 */
async function makeRoom(
  policy: ResumablePolicy,
  { customer, most, growingUploads, now }: ResumableByLink,
  isOwn: (upload: ResumableUpload) => boolean,
  lostHolders: number,
): Promise<void> {
  const unfinished: ResumableUpload[] = []
  for await (const page of policy.uploads.list(customer.name))
    unfinished.push(...page.filter(isOwn))
  if (unfinished.length + lostHolders < most) return
  const [oldest] = unfinished
    .filter(({ id }) => growingUploads.count(growingKey(customer, id)) === 0)
    .toSorted((one, other) => changedAt(one) - changedAt(other))
  if (oldest === undefined || now() - changedAt(oldest) < idleMs) {
    const message = `${most} upload(s) by the link are unfinished already`
    throw new FileServiceError('overloaded', message, { retryAfterMs })
  }
  await discardUpload(policy, customer, uploadKey(customer, oldest.id))
}

function changedAt({ expiresAt, plan }: ResumableUpload): number {
  return expiresAt.getTime() - plan.expiresAfterMs
}

/** `keeper`, whose claims come from `claims`. */
function withClaims(keeper: QuotaKeeper, claims: Pick<QuotaKeeper, 'claim'>): QuotaKeeper {
  return {
    claim: (...claim) => claims.claim(...claim),
    free: (...freed) => keeper.free(...freed),
    beginUpload: (customer, most, begin) => keeper.beginUpload(customer, most, begin),
    endUpload: (...ended) => keeper.endUpload(...ended),
    release: (...released) => keeper.release(...released),
    releaseGone: () => keeper.releaseGone(),
  }
}
