import { isLimited, type Customer } from '../model/customer.ts'
import { createKeyedLock } from '../model/concurrency.ts'
import { requireMethods } from '../model/require.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import {
  createQuotaAccounts,
  sum,
  uploadsExceeded,
  type Amount,
  type QuotaAccount,
  type QuotaAccounts,
  type QuotaAccountsOptions,
} from './quota-accounts.ts'
import {
  nothing,
  openClaim,
  type LocalClaim,
  type LockedFile,
  type QuotaClaim,
} from './quota-claim.ts'

/** Enforces the customers' quotas of bytes and of files. For customers without a quota it costs nothing. */
export interface QuotaKeeper {
  /**
   * Begins a claim, and reserves `size` bytes for it. Default: 0, for an unknown size. If the bytes are a piece of an unfinished
   * upload, `upload` is its id. Default: they are a whole file.
   * @throws FileServiceError `quota-exceeded` when the bytes, or one more file, would exceed the quota; `upload-conflict` when the
   *   bytes would, and an earlier claim for the same upload has not ended yet. Nothing is claimed then.
   */
  claim(customer: Customer, name: string, size?: number, upload?: string): Promise<QuotaClaim>
  /**
   * Runs `remove`, which resolves with whether it deleted the file, and frees the file's bytes. With `source`, `remove` replaces the
   * file, if there is one, by the customer's file `source`; no upload or deletion may change either of them meanwhile.
   */
  free(
    customer: Customer,
    name: string,
    remove: () => Promise<boolean>,
    source?: string,
  ): Promise<boolean>
  /**
   * Runs `begin`, which begins an upload in pieces, if the customer has fewer than `most` unfinished uploads. This limit holds also
   * for customers without a quota.
   * @throws FileServiceError `quota-exceeded`
   */
  beginUpload<Upload extends { readonly id: string }>(
    customer: Customer,
    most: number,
    begin: () => Promise<Upload>,
  ): Promise<Upload>
  /** Call this when an upload in pieces was published or discarded. After it resolves, another one may begin. It never rejects. */
  endUpload(customer: Customer, upload: string): Promise<void>
  /** Frees the bytes of an unfinished upload that was discarded. */
  release(customer: Customer, upload: string): Promise<void>
  /** Frees the bytes of unfinished uploads that the store no longer has, such as expired ones. */
  releaseGone(): Promise<void>
}

/** A {@link QuotaKeeper} that keeps the accounts itself. */
export interface LocalQuotaKeeper extends QuotaKeeper {
  claim(customer: Customer, name: string, size?: number, upload?: string): Promise<LocalClaim>
}

/** The claim of a customer without limits. */
export const noClaim: LocalClaim = {
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

/** The accounts and counts that several servers share. */
export interface SharedQuotas {
  readonly accounts: QuotaAccounts
  readonly uploads: UploadCounter
}

export interface QuotaKeeperOptions extends QuotaAccountsOptions {
  /** Default: this process keeps them itself. */
  readonly shared?: SharedQuotas
}

/**
 * A {@link QuotaKeeper} that asks the store for a customer's usage once, and keeps the account from then on. The file that an upload
 * replaces counts as free space, so that a customer who has used more than half of the quota can still replace a large file. It
 * notices changes by other processes when it counts the customer again, unless they share accounts.
 */
export function createQuotaKeeper(
  store: BlobStore,
  options: QuotaKeeperOptions = {},
): LocalQuotaKeeper {
  requireMethods('store', store, ['usage', 'stat'])
  const { accounts, uploads } = options.shared ?? ownQuotas(store, options)
  const lockName = createKeyedLock()
  const lookUp = async (customer: string, name: string): Promise<Amount> => {
    const info = await store.stat({ customer, name })
    return info ? { bytes: info.size, files: 1 } : nothing
  }
  const lockFile = async (
    { name: customer }: Customer,
    name: string,
    account: QuotaAccount,
  ): Promise<LockedFile> => {
    const unlock = await lockName(`${customer}/${name}`)
    try {
      const kept = await lookUp(customer, name)
      // Without a file nothing becomes free, so that no other server need wait.
      if (kept.files === 0 || account.shared === undefined) return { kept, unlock }
      const unlockShared = await account.shared.lock(name, kept)
      const unlockBoth = () => {
        unlockShared()
        unlock()
      }
      return {
        kept: await lookUp(customer, name).catch(rethrowAfter(unlockShared)),
        unlock: unlockBoth,
      }
    } catch (error) {
      unlock()
      throw error
    }
  }

  const freeUncounted = async (customer: Customer, remove: () => Promise<boolean>) => {
    try {
      return await remove()
    } finally {
      // A count that began before the deletion may include the file.
      accounts.find(customer)?.invalidateCount()
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
  /** Asks for each missing upload, too: a list may miss an upload that changes meanwhile. */
  const releaseGoneOf = async (customer: Customer) => {
    const account = accounts.find(customer)
    const missing = new Set(account?.stagedUploads())
    if (missing.size === 0) return
    for await (const found of store.resumable?.list(customer.name) ?? []) {
      for (const { id } of found) missing.delete(id)
    }
    for (const id of missing) {
      if (!(await isUnfinished(customer.name, id))) account?.unstage(id)
    }
  }

  return {
    async claim(customer, name, size = 0, upload?: string) {
      if (!isLimited(customer)) return noClaim
      const account = accounts.open(customer, size)
      const { claim, announce } = openClaim(customer, account, {
        upload: upload === undefined ? undefined : uploadOf(customer, upload),
        lookUp: () => lookUp(customer.name, name),
        lock: () => lockFile(customer, name, account),
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

    async free(customer, name, remove, source?: string) {
      // An upload to `source` may begin and count that file as free space: it must find the name locked.
      const isAwaited = source !== undefined && isLimited(customer)
      const account = isAwaited ? accounts.open(customer, 0) : accounts.find(customer)
      if (account === undefined) return freeUncounted(customer, remove)
      account.users++
      // The deletion does not need the count; only the accounts do.
      await account.counted.catch(() => {})
      const locked = new Map<string, LockedFile>()
      try {
        // In one order: two calls with the same names must not wait for each other.
        for (const one of source === undefined ? [name] : [name, source].sort()) {
          locked.set(one, await lockFile(customer, one, account))
        }
        const removed = await remove()
        // A count of another server that is under way may find a renamed file under neither name, so it counts as added, too.
        const { kept: replaced = nothing } = locked.get(name) ?? {}
        const { kept: renamed = nothing } = (source !== undefined && locked.get(source)) || {}
        if (removed) account.record({ added: renamed, removed: sum(replaced, renamed) })
        return removed
      } catch (error) {
        // The file may have been deleted in spite of the error.
        account.invalidateCount()
        throw error
      } finally {
        account.users--
        // What it could not send is sent later. An error here would hide the outcome, and leave the names locked.
        await account.shared?.flush().catch(() => {})
        for (const { unlock } of locked.values()) unlock()
      }
    },

    beginUpload: ({ name }, most, begin) => uploads.begin(name, most, begin),
    endUpload: async ({ name }, upload) => uploads.end(name, upload),

    async release(customer, upload) {
      const account = accounts.find(customer)
      // A count that began before the release may include the upload.
      await account?.counted.catch(() => {})
      account?.unstage(upload)
      await account?.shared?.flush()
    },

    async releaseGone() {
      uploads.forget()
      for (const customer of accounts.customers()) await releaseGoneOf(customer)
    },
  }
}

/** Accounts and counts of this process alone. */
function ownQuotas(store: BlobStore, options: QuotaAccountsOptions): SharedQuotas {
  const list = (customer: string) => store.resumable?.list(customer) ?? noUploads()
  return {
    accounts: createQuotaAccounts(store, options),
    uploads: createUploadCounter({ list }, options.now),
  }
}

function rethrowAfter(undo: () => void): (error: unknown) => never {
  return (error) => {
    undo()
    throw error
  }
}

interface Identified {
  readonly id: string
}

/** Knows the unfinished uploads of every customer who has begun one. */
export interface UploadCounter {
  /**
   * Runs `begin` if the customer has fewer than `most` unfinished uploads. The first call for a customer waits until the store has
   * listed them, and so does a call that would be refused. Other calls use the known number, which is counted again in the
   * background; so several processes may exceed `most` together for some time.
   * @throws FileServiceError `quota-exceeded`
   */
  begin<Upload extends Identified>(
    customer: string,
    most: number,
    begin: () => Promise<Upload>,
  ): Promise<Upload>
  /** Call this when an upload was published or discarded. */
  end(customer: string, upload: string): void | Promise<void>
  /** Forgets the known uploads, since some have expired. */
  forget(): void
}

/** Lists the unfinished uploads of a customer in pages. */
interface UploadList {
  list(customer: string): AsyncIterable<readonly Identified[]>
}

interface Count {
  readonly customer: string
  ids: Set<string>
  /** How many uploads are about to begin. */
  beginning: number
  /** For each recount and each `begin` that is under way: the set of uploads that have ended since it started. */
  readonly endings: Set<Set<string>>
  /** The recount that is under way. */
  look: Promise<void> | undefined
  /** Whether a recount has succeeded. */
  isCounted: boolean
  /** When the last recount began; `-Infinity` if its result is no longer valid. */
  countedAt: number
  /** How long the last recount took, in milliseconds. */
  countingMs: number
}

/** How old a count may be, in milliseconds; the shorter age if it would refuse an upload. If counting takes long, both are longer. */
const longestAgeMs = 60_000
const shortestAgeMs = 1_000

/** A count may be used for at least this many times as long as it took to make. */
const timesCounting = 20

export function createUploadCounter(
  store: UploadList,
  now = () => performance.now(),
): UploadCounter {
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
      // The next upload retries.
      count.countedAt = -Infinity
      throw error
    } finally {
      count.look = undefined
    }
  }
  /** Counts again, or waits for a recount that is under way. */
  const recount = (count: Count): Promise<void> => {
    if (count.look) return count.look
    count.look = look(count)
    // In the background no one handles a failure: the known number is used until a recount succeeds.
    count.look.catch(() => {})
    return count.look
  }
  const isOlderThan = ({ countedAt }: Count, ms: number) => now() - countedAt >= ms

  /** Resolves when the count is new enough to accept or refuse an upload. */
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
        // A count in use includes uploads that the store does not list yet.
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

/** Runs `work` with a set to which the uploads that end meanwhile are added. */
async function watchEndings<T>(count: Count, work: (ended: Set<string>) => Promise<T>): Promise<T> {
  const ended = new Set<string>()
  count.endings.add(ended)
  try {
    return await work(ended)
  } finally {
    count.endings.delete(ended)
  }
}

/** Sets the ids to those that the store lists, adds those that have begun meanwhile, and removes those that have ended. */
function recountIds(store: UploadList, count: Count): Promise<void> {
  return watchEndings(count, async (ended) => {
    const before = new Set(count.ids)
    const found = new Set<string>()
    for await (const uploads of store.list(count.customer)) {
      for (const { id } of uploads) found.add(id)
    }
    for (const id of count.ids) if (!before.has(id)) found.add(id)
    for (const id of ended) found.delete(id)
    // Do not put an `await` before this line: an upload that ends during it would stay counted.
    count.ids = found
  })
}
