import type { Customer } from '../model/customer.ts'
import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { createKeyedCounter, type KeyedCounter } from '../model/keyed-counter.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/** What is known about one customer's usage. */
export interface QuotaAccount {
  countedAt: number
  /** How long the count took, in milliseconds. */
  countingMs: number
  /** Resolves when the account includes the count, and everything that had to be looked up since. */
  counted: Promise<void>
  /** Bytes of files in the store. */
  kept: number
  /** Bytes of unfinished uploads in the store. */
  readonly staged: StagedBytes
  /** How many claims have not ended, by the unfinished upload for which they are. */
  readonly pieces: KeyedCounter
  /** Bytes of uploads under way, arrived or reserved. */
  claimed: number
  /** How many files are in the store. */
  files: number
  /** How many files the uploads under way will add. */
  claimedFiles: number
  /** How many claims and deletions have not ended. While there are any, the account is more exact than a new count. */
  users: number
}

export interface QuotaAccountsOptions {
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
  /**
   * How old a count may be before an idle customer is counted again, in milliseconds. When the quota is nearly used up, the count
   * may only be as old as a second, or as twenty times the time that it took. Default: one minute.
   */
  readonly recountAfterMs?: number
}

/** The accounts of all customers whose accounts were opened. */
export interface QuotaAccounts {
  /** The account of a customer whose next upload has `size` bytes. If the count is too old for that, it begins a new one. */
  open(customer: Customer, size: number): QuotaAccount
  /** The present account, if there is one. */
  find(customer: string): QuotaAccount | undefined
  /** The names of all customers who have an account. */
  customers(): readonly string[]
}

/** While a customer uses no more than this share of the quota, a count is used for the longer time. */
const roomyShare = 0.9

/** {@link QuotaAccounts} that ask the store for a customer's files and unfinished uploads. */
export function createQuotaAccounts(
  store: BlobStore,
  { now = () => performance.now(), recountAfterMs = 60_000 }: QuotaAccountsOptions,
): QuotaAccounts {
  const accounts = new Map<string, QuotaAccount>()

  const count = (customer: string): QuotaAccount => {
    const countedAt = now()
    const staged = createStagedBytes()
    const look = async () => {
      // Counted before the files, so that an upload that another process publishes meanwhile may count twice, but is not missed.
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
    // A failed count is dropped, so that the next upload retries.
    counted.catch(() => accounts.delete(customer))
    accounts.set(customer, account)
    return account
  }

  /** How long a count may be used. It is shorter when the quota is nearly used up, since the changes of others matter then. */
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
  /** The sum of the bytes of all uploads. */
  total(): number
  of(upload: string): number
  /** Sets the bytes of an upload, if they are more than known: an upload never shrinks, so the larger number is right. */
  raise(upload: string, bytes: number): void
  /** Removes an upload that was published or discarded. */
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

/** Why one file does not fit into a quota of bytes. */
interface ByteShortage {
  /** Bytes of the customer's other files and uploads under way. */
  readonly others: number
  readonly quota: number
  /** Bytes of the whole file; `undefined` if they are not known. */
  readonly needed: number | undefined
}

/** The error if the customer would keep more bytes than the quota. */
export function bytesExceeded({ others, quota, needed }: ByteShortage): FileServiceError {
  const need = needed === undefined ? 'more than the rest' : `${needed}`
  return exceeded(
    `other files and uploads use ${others} of ${quota} bytes, and this file needs ${need}`,
  )
}

/** The error if the customer would keep more files than `most`. */
export function filesExceeded(count: number, most: number): FileServiceError {
  return exceeded(`${count} of ${most} files are stored or being stored`)
}

/** The error if the customer would have more unfinished uploads than `most`. */
export function uploadsExceeded(count: number, most: number): FileServiceError {
  return exceeded(`there are ${count} of ${most} unfinished uploads`)
}

/** The error if there are as many files as a link may store. The user of the link may know that number. */
export function linkExceeded(maxFiles: number): FileServiceError {
  const message = `Quota exceeded: the link's limit is ${maxFiles} file(s)`
  return new LinkExceeded('quota-exceeded', message)
}

/** `error` for the user of a link, who must not learn the customer's numbers. */
export function withoutNumbers(error: unknown): unknown {
  if (!isFileServiceError(error, 'quota-exceeded') || error instanceof LinkExceeded) return error
  return new FileServiceError('quota-exceeded', 'Quota exceeded')
}

class LinkExceeded extends FileServiceError {}

function exceeded(reason: string): FileServiceError {
  return new FileServiceError('quota-exceeded', `Quota exceeded: ${reason}`)
}
