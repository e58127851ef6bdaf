import { monotonicTime } from '../model/monotonic-time.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { Customer } from '../model/customer.ts'
import { createKeyedCounter, type KeyedCounter } from '../model/keyed-counter.ts'
import { createStagedBytes, type StagedBytes } from './staged-bytes.ts'

/** What is known of one customer's usage. */
export interface QuotaAccount {
  countedAt: number
  /** How long the count took, in milliseconds. */
  countingMs: number
  /** When the count, and whatever had to be looked up since, is in the books. */
  counted: Promise<void>
  /** Bytes of files in the store. */
  kept: number
  /** Bytes that the store has of unfinished uploads. */
  readonly staged: StagedBytes
  /** Claims that have not ended, by the unfinished upload for which they are. */
  readonly pieces: KeyedCounter
  /** Bytes of uploads under way, arrived or reserved. */
  claimed: number
  /** Files in the store. */
  files: number
  /** Files that uploads under way are going to add. */
  claimedFiles: number
  /** Claims and deletions that have not ended. While there are any, the books are better than a new count. */
  users: number
}

export interface QuotaAccountsOptions {
  /** A time in milliseconds that only goes on. Default: that of `performance.now`. */
  readonly now?: () => number
  /**
   * How old a count may be before an idle customer is counted anew, in milliseconds; once the quota is nearly used up,
   * no more than a second, or twenty times as long as the count took. Default: one minute.
   */
  readonly recountAfterMs?: number
}

/** The accounts of all customers that were asked for. */
export interface QuotaAccounts {
  /** The account of a customer whose next upload has `size` bytes; counted anew when it is too old for that. */
  open(customer: Customer, size: number): QuotaAccount
  /** The account as it is, if there is one. */
  find(customer: string): QuotaAccount | undefined
  /** The names of all customers who have one. */
  customers(): readonly string[]
}

/** The part of a quota up to which there is room enough for a count to be believed for long. */
const roomyShare = 0.9

/** {@link QuotaAccounts} that ask the store how much a customer keeps, and has of unfinished uploads. */
export function createQuotaAccounts(
  store: BlobStore,
  { now = monotonicTime, recountAfterMs = 60_000 }: QuotaAccountsOptions,
): QuotaAccounts {
  const accounts = new Map<string, QuotaAccount>()

  const count = (customer: string): QuotaAccount => {
    const countedAt = now()
    const staged = createStagedBytes()
    const look = async () => {
      // Before the files: an upload that another process publishes meanwhile may count twice, but not be missed.
      for await (const uploads of store.resumable?.list(customer) ?? []) {
        for (const { id, offset } of uploads) staged.raise(id, offset)
      }
      const { blobs, bytes } = await store.usage(customer)
      account.kept = bytes
      account.files = blobs
      account.countingMs = now() - countedAt
    }
    const counted = look()
    const pieces = createKeyedCounter()
    const books = { kept: 0, staged, pieces, claimed: 0, files: 0, claimedFiles: 0, users: 0 }
    const account: QuotaAccount = { countedAt, countingMs: 0, counted, ...books }
    // A count that failed is not kept, so that the next upload tries again.
    counted.catch(() => accounts.delete(customer))
    accounts.set(customer, account)
    return account
  }

  /** For how long a count holds. Where it matters what others have done meanwhile, no longer than counting is cheap. */
  const patience = (
    { kept, staged, files, countingMs }: QuotaAccount,
    { quota = Infinity, maxFiles = Infinity }: Customer,
    size: number,
  ): number => {
    const used = kept + staged.total()
    const isRoomy = used + size <= roomyShare * quota && files + 1 <= roomyShare * maxFiles
    return isRoomy ? recountAfterMs : Math.min(recountAfterMs, Math.max(1_000, 20 * countingMs))
  }

  return {
    open(customer, size) {
      const account = accounts.get(customer.name)
      if (account === undefined) return count(customer.name)
      const isFresh = now() - account.countedAt < patience(account, customer, size)
      return account.users > 0 || isFresh ? account : count(customer.name)
    },
    find: (customer) => accounts.get(customer),
    customers: () => [...accounts.keys()],
  }
}
