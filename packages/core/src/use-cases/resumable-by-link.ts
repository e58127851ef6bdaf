import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import type { UseCounter } from '../model/keyed-counter.ts'
import type { KeyedTurns } from '../model/keyed-lock.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { resumableFiles, type ResumableFiles } from './resumable-files.ts'
import { discardUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'
import type { UploadPolicy } from './upload-file.ts'

/** What uploads in pieces by one link are bounded by. */
export interface ResumableByLink {
  readonly customer: Customer
  /** What distinguishes the link from the customer's others. */
  readonly link: string
  /** Milliseconds until the link expires. */
  readonly endsInMs: number
  readonly replace: boolean
  /** How many of the link's uploads may be unfinished. */
  readonly most: number
  /** By customer: one upload at a time is begun. */
  readonly publishLocks: KeyedTurns
  /** The requests that add to uploads, by `growingKey`. */
  readonly growingUploads: UseCounter
  readonly now: () => number
  /** @throws FileServiceError `invalid-file-name`, `link-refused` for a name that the link is not for */
  check(name: string): void
  /**
   * Does `work` in a slot. Requests of one `upload` share a slot: the earlier one still has it when a later one ends it.
   * @throws FileServiceError `overloaded` where as many uploads are under way as may be
   */
  readonly inSlot: <Result>(work: () => Promise<Result>, upload?: string) => Promise<Result>
}

/** An unfinished upload that has not changed for so long makes room for another one. */
const idleMs = 2 * 60_000

/**
 * Longest time for which the store knows an upload by a link that may replace. Such uploads may be published without end, and no
 * quota counts what is kept of each.
 */
const longestReplacingMs = 60 * 60_000

const retryAfterMs = 10_000

/**
 * Uploads in pieces by one link: those that it has begun, and no others. `bounded` is the policy for whole files by the link.
 * Without a change an upload expires at the latest when the link does. If it has changed, it may stay as much longer; no one can
 * go on with it then.
 *
 * `begin` also throws `link-refused` for a name that the link is not for, and `overloaded` where as many of the link's uploads
 * are unfinished as may be, and all have changed lately or are growing; one that has not is discarded instead.
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

  /** @throws FileServiceError `upload-not-found` for an upload that is not of this link */
  const requireOwn = async (id: string) => {
    const upload = await uploads.state(uploadKey(customer, id))
    if (upload === undefined || !isOwn(upload)) throw uploadNotFound()
  }

  return {
    async begin(name, options = {}) {
      bounds.check(name)
      const begin = () =>
        files.begin(name, { ...options, createOnly: createOnly(options.createOnly) })
      // One of no bytes is published at once, which takes a turn of its own.
      if (options.length === 0) return inSlot(begin)
      return inSlot(async () => {
        const turn = await bounds.publishLocks(customer.name)
        try {
          await makeRoom(strict, bounds, isOwn, turn.unended)
          return await begin()
        } finally {
          turn.end()
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

/** The key of an upload that is growing; no other key has two slashes side by side. */
function growingKey(customer: Customer, id: string): string {
  return `${customer.name}//${id}`
}

/**
 * Discards the link's unfinished upload that has not changed for longest, if there are too many for another one. What an unended turn is
 * about to begin counts as one. A store may
 * state a change only after many megabytes, which take minutes on a slow line, so that one that is growing is kept.
 */
async function makeRoom(
  policy: ResumablePolicy,
  { customer, most, growingUploads, now }: ResumableByLink,
  isOwn: (upload: ResumableUpload) => boolean,
  unended: number,
): Promise<void> {
  const unfinished: ResumableUpload[] = []
  for await (const page of policy.uploads.list(customer.name))
    unfinished.push(...page.filter(isOwn))
  if (unfinished.length + unended < most) return
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

/** `keeper` with the claims of another one. */
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
