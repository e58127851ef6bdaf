import type { Customer } from '../model/customer.ts'
import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { createKeyedCounter, type KeyedCounter } from '../model/keyed-counter.ts'
import { monotonicTime } from '../model/monotonic-time.ts'
import type { BlobStore } from '../ports/blob-store.ts'

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

/** How many bytes each unfinished upload of one customer has, by its id. */
interface StagedBytes {
  /** The sum of all. */
  total(): number
  of(upload: string): number
  /** An upload has at least so many bytes: it never has fewer than it once had, so the larger number is right. */
  raise(upload: string, bytes: number): void
  /** An upload is unfinished no more, or gone. */
  remove(upload: string): void
  ids(): readonly string[]
}

export function createStagedBytes(): StagedBytes {
  const staged = new Map<string, number>()
  let total = 0
  const of = (upload: string) => staged.get(upload) ?? 0
  return {
    total: () => total,
    of,
    raise(upload, bytes) {
      const more = bytes - of(upload)
      if (more <= 0) return
      staged.set(upload, bytes)
      total += more
    },
    remove(upload) {
      total -= of(upload)
      staged.delete(upload)
    },
    ids: () => [...staged.keys()],
  }
}

/** What of a quota of bytes is left for one file. */
interface ByteShortage {
  /** Bytes of the customer's other files and uploads under way. */
  readonly others: number
  readonly quota: number
  /** Bytes of the whole file; left out where they are not known. */
  readonly needed: number | undefined
}

/** The customer would keep more bytes than the quota. */
export function bytesExceeded({ others, quota, needed }: ByteShortage): FileServiceError {
  const need = needed === undefined ? 'more than the rest' : `${needed}`
  return exceeded(
    `other files and uploads use ${others} of ${quota} bytes, and this file needs ${need}`,
  )
}

/** The customer would keep more files than `most`. */
export function filesExceeded(count: number, most: number): FileServiceError {
  return exceeded(`${count} of ${most} files are stored or being stored`)
}

/** The customer has as many unfinished uploads as may be. */
export function uploadsExceeded(count: number, most: number): FileServiceError {
  return exceeded(`there are ${count} of ${most} unfinished uploads`)
}

/** There are as many files as a link may store. Whoever has the link may know that number. */
export function linkExceeded(maxFiles: number): FileServiceError {
  const message = `Quota exceeded: the link's limit is ${maxFiles} file(s)`
  return new LinkExceeded('quota-exceeded', message)
}

/** What a stranger may know of `error`: no number of the customer's. */
export function withoutNumbers(error: unknown): unknown {
  if (!isFileServiceError(error, 'quota-exceeded') || error instanceof LinkExceeded) return error
  return new FileServiceError('quota-exceeded', 'Quota exceeded')
}

class LinkExceeded extends FileServiceError {}

function exceeded(reason: string): FileServiceError {
  return new FileServiceError('quota-exceeded', `Quota exceeded: ${reason}`)
}
