import { isLimited, type Customer } from '../model/customer.ts'
import { createKeyedLock } from '../model/keyed-lock.ts'
import { monotonicTime } from '../model/monotonic-time.ts'
import { requireMethods } from '../model/require.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import {
  createQuotaAccounts,
  type QuotaAccountsOptions,
  uploadsExceeded,
} from './quota-accounts.ts'
import { nothing, openClaim, type LocalClaim, type Kept, type QuotaClaim } from './quota-claim.ts'

/** Keeps what customers store within their quotas of bytes and of files. Customers without either cost nothing. */
export interface QuotaKeeper {
  /**
   * Begins a claim, and reserves `size` bytes for it. Default: 0, for an unknown size. `upload` is the id of the unfinished
   * upload that the bytes are a piece of. Default: they are a whole file.
   * @throws FileServiceError `quota-exceeded` when they, or one more file, would exceed the quota; `upload-conflict` when
   *   they would, and an earlier claim for the same upload has not ended yet. Claims nothing then.
   */
  claim(customer: Customer, name: string, size?: number, upload?: string): Promise<QuotaClaim>
  /** Runs `remove`, which says whether it deleted the file, and frees the bytes. */
  free(customer: Customer, name: string, remove: () => Promise<boolean>): Promise<boolean>
  /**
   * Runs `begin`, which begins an upload in pieces, where the customer has fewer than `most` that are unfinished. This goes for
   * customers without a quota, too.
   * @throws FileServiceError `quota-exceeded`
   */
  beginUpload<Upload extends { readonly id: string }>(
    customer: Customer,
    most: number,
    begin: () => Promise<Upload>,
  ): Promise<Upload>
  /** An upload in pieces has been published or discarded: once it resolves, another one may begin. It never rejects. */
  endUpload(customer: Customer, upload: string): Promise<void>
  /** Frees the bytes of an unfinished upload that has been discarded. */
  release(customer: Customer, upload: string): Promise<void>
  /** Frees the bytes of unfinished uploads that are gone from the store, such as those that have expired. */
  releaseGone(): Promise<void>
}

/** A {@link QuotaKeeper} that keeps the accounts itself. */
export interface LocalQuotaKeeper extends QuotaKeeper {
  claim(customer: Customer, name: string, size?: number, upload?: string): Promise<LocalClaim>
}

const noClaim: LocalClaim = {
  grow() {},
  reserve: () => Infinity,
  stage() {},
  prepare: async () => {},
  settle() {},
  end() {},
  yieldName() {},
  endAfter() {},
}

async function* noUploads() {}

/**
 * A {@link QuotaKeeper} that asks the store for a customer's usage once, and keeps the accounts from then on. The file that
 * an upload replaces counts as free space, so that a customer who has used more than half can still replace a file.
 * Changes by other processes are noticed when the customer is counted again.
 */
export function createQuotaKeeper(
  store: BlobStore,
  options: QuotaAccountsOptions = {},
): LocalQuotaKeeper {
  requireMethods('store', store, ['usage', 'stat'])
  const accounts = createQuotaAccounts(store, options)
  const uploads = createUploadCounter(
    { list: (customer) => store.resumable?.list(customer) ?? noUploads() },
    options.now ?? monotonicTime,
  )
  const lock = createKeyedLock()
  const lockFile = (customer: Customer, name: string) => lock(`${customer.name}/${name}`)
  const lookUp = async (customer: Customer, name: string): Promise<Kept> => {
    const info = await store.stat({ customer: customer.name, name })
    return info ? { bytes: info.size, files: 1 } : nothing
  }

  const freeUncounted = async (customer: string, remove: () => Promise<boolean>) => {
    try {
      return await remove()
    } finally {
      const account = accounts.find(customer)
      // A count that began before may include the file.
      if (account) account.countedAt = -Infinity
    }
  }

  const isUnfinished = async (customer: string, id: string) => {
    const upload = await store.resumable?.state({ customer, id })
    return upload !== undefined && upload.published === undefined
  }
  const uploadOf = (customer: Customer, id: string) => ({
    id,
    isUnfinished: () => isUnfinished(customer.name, id),
  })
  /** A list alone does not prove that an upload is gone: one that changes meanwhile may be missing. */
  const releaseGoneOf = async (customer: string) => {
    const staged = accounts.find(customer)?.staged
    const missing = new Set(staged?.ids())
    if (missing.size === 0) return
    for await (const uploads of store.resumable?.list(customer) ?? []) {
      for (const { id } of uploads) missing.delete(id)
    }
    for (const id of missing) {
      if (!(await isUnfinished(customer, id))) staged?.remove(id)
    }
  }

  return {
    async claim(customer, name, size = 0, upload?: string) {
      if (!isLimited(customer)) return noClaim
      const account = accounts.open(customer, size)
      const { claim, announce } = openClaim(customer, account, {
        upload: upload === undefined ? undefined : uploadOf(customer, upload),
        lookUp: () => lookUp(customer, name),
        lock: () => lockFile(customer, name),
      })
      try {
        await account.counted
        await announce(size)
      } catch (error) {
        claim.end()
        throw error
      }
      return claim
    },

    async free(customer, name, remove) {
      const account = accounts.find(customer.name)
      if (account === undefined) return freeUncounted(customer.name, remove)
      account.users++
      const unlock = await lockFile(customer, name)
      try {
        // The deletion does not need the count; only the accounts do.
        await account.counted.catch(() => {})
        const kept = await lookUp(customer, name)
        const removed = await remove()
        if (removed) {
          account.kept -= kept.bytes
          account.files -= kept.files
        }
        return removed
      } catch (error) {
        // The file may be deleted in spite of the error.
        account.countedAt = -Infinity
        throw error
      } finally {
        account.users--
        unlock()
      }
    },

    beginUpload: ({ name }, most, begin) => uploads.begin(name, most, begin),
    endUpload: async ({ name }, upload) => uploads.end(name, upload),

    async release(customer, upload) {
      const account = accounts.find(customer.name)
      // A count that began before may include the upload.
      await account?.counted.catch(() => {})
      account?.staged.remove(upload)
    },

    async releaseGone() {
      uploads.forget()
      for (const customer of accounts.customers()) await releaseGoneOf(customer)
    },
  }
}

interface Identified {
  readonly id: string
}

/** Knows the unfinished uploads of every customer who has begun one. */
interface UploadCounter {
  /**
   * Runs `begin` where the customer has fewer than `most` unfinished uploads. The first call for a customer waits until the
   * store has listed them, and so does a call that would be refused. Others find what is known, which is listed anew in the
   * background; so several processes may exceed `most` together for a time.
   * @throws FileServiceError `quota-exceeded`
   */
  begin<Upload extends Identified>(
    customer: string,
    most: number,
    begin: () => Promise<Upload>,
  ): Promise<Upload>
  /** An upload is published or discarded. */
  end(customer: string, upload: string): void
  /** Forgets what it knows: uploads have expired. */
  forget(): void
}

/** Lists the unfinished uploads of a customer in pages. */
interface UploadList {
  list(customer: string): AsyncIterable<readonly Identified[]>
}

interface Count {
  readonly customer: string
  ids: Set<string>
  /** Uploads that are being begun. */
  beginning: number
  /** One set for each look at the store, and each beginning, that is under way: the uploads that have ended since. */
  readonly endings: Set<Set<string>>
  /** The look at the store that is under way. */
  look: Promise<void> | undefined
  /** Whether a look has succeeded. */
  isCounted: boolean
  /** When the last look began; `-Infinity` if what it found does not hold any more. */
  countedAt: number
  /** How long the last look took, in milliseconds. */
  countingMs: number
}

/** How old a count may be, in milliseconds; where it refuses an upload, a second. Both are more where counting takes long. */
const longestAgeMs = 60_000
const shortestAgeMs = 1_000

/** A count holds at least so many times as long as it took. */
const timesCounting = 20

export function createUploadCounter(store: UploadList, now: () => number): UploadCounter {
  const counts = new Map<string, Count>()

  const known = (customer: string): Count => {
    const count = counts.get(customer) ?? newCount(customer)
    counts.set(customer, count)
    return count
  }
  const look = async (count: Count) => {
    const startedAt = now()
    count.countedAt = startedAt
    try {
      await recountIds(store, count)
      count.countingMs = now() - startedAt
      count.isCounted = true
    } catch (error) {
      // The next upload tries again.
      count.countedAt = -Infinity
      throw error
    } finally {
      count.look = undefined
    }
  }
  /** Joins a look that is under way. */
  const recount = (count: Count): Promise<void> => {
    if (count.look) return count.look
    count.look = look(count)
    // In the background a failure is no one's: what was known holds until a look succeeds.
    count.look.catch(() => {})
    return count.look
  }
  const isOlderThan = ({ countedAt }: Count, ms: number) => now() - countedAt >= ms

  /** Resolves when the count is as new as is needed to judge by it. */
  const judgeable = async (count: Count, most: number): Promise<void> => {
    const countingMs = timesCounting * count.countingMs
    if (isOlderThan(count, Math.max(longestAgeMs, countingMs))) void recount(count)
    if (!count.isCounted || isFull(count, most)) await count.look
    const patience = Math.min(longestAgeMs, Math.max(shortestAgeMs, countingMs))
    if (isFull(count, most) && (count.look || isOlderThan(count, patience))) await recount(count)
  }

  return {
    async begin(customer, most, begin) {
      if (most === Infinity) return begin()
      const count = known(customer)
      return watchEndings(count, async (ended) => {
        await judgeable(count, most)
        if (isFull(count, most)) throw uploadsExceeded(unfinished(count), most)
        count.beginning++
        try {
          const upload = await begin()
          if (!ended.has(upload.id)) count.ids.add(upload.id)
          return upload
        } finally {
          count.beginning--
        }
      })
    },
    end(customer, upload) {
      const count = counts.get(customer)
      count?.ids.delete(upload)
      for (const ended of count?.endings ?? []) ended.add(upload)
    },
    forget() {
      for (const count of counts.values()) {
        // A count in use knows of uploads that the store does not list yet.
        if (count.endings.size === 0) counts.delete(count.customer)
        else count.countedAt = -Infinity
      }
    },
  }
}

function newCount(customer: string): Count {
  return {
    customer,
    ids: new Set(),
    beginning: 0,
    endings: new Set(),
    look: undefined,
    isCounted: false,
    countedAt: -Infinity,
    countingMs: 0,
  }
}

const unfinished = ({ ids, beginning }: Count) => ids.size + beginning

const isFull = (count: Count, most: number) => unfinished(count) >= most

/** Does `work` with a set that gets the uploads that end meanwhile. */
async function watchEndings<T>(count: Count, work: (ended: Set<string>) => Promise<T>): Promise<T> {
  const ended = new Set<string>()
  count.endings.add(ended)
  try {
    return await work(ended)
  } finally {
    count.endings.delete(ended)
  }
}

/** Sets the ids to those that the store lists, with those that have begun meanwhile and without those that have ended. */
function recountIds(store: UploadList, count: Count): Promise<void> {
  return watchEndings(count, async (ended) => {
    const before = new Set(count.ids)
    const found = new Set<string>()
    for await (const uploads of store.list(count.customer)) {
      for (const { id } of uploads) found.add(id)
    }
    for (const id of count.ids) if (!before.has(id)) found.add(id)
    for (const id of ended) found.delete(id)
    // Do not put an `await` before it: an upload that ends during that would stay counted.
    count.ids = found
  })
}
