import type { Customer } from '../model/customer.ts'
import { FileServiceError, isFileServiceError } from '../model/errors.ts'
import { createKeyedCounter, type KeyedCounter } from '../model/concurrency.ts'
import type { BlobStore } from '../ports/blob-store.ts'

/** An amount of what a quota limits. */
export interface Amount {
  readonly bytes: number
  readonly files: number
}

/** How an upload or a deletion has changed what the store keeps. */
export interface KeptChange {
  /** The file that was stored. */
  readonly added: Amount
  /** The file that was replaced or deleted. */
  readonly removed: Amount
  /** The upload in pieces that was published: its bytes are those of the file now. */
  readonly upload?: string | undefined
}

/** One customer's usage: what is stored, and what uploads under way have claimed. */
export interface QuotaAccount {
  /** Resolves when the account includes the count, and everything that had to be looked up since. */
  counted: Promise<void>
  /**
   * How many bytes may be claimed now, without asking other servers. Negative if more is used than allowed. `isPiece`: for a piece of an
   * unfinished upload. Default: for a whole file.
   */
  room(limits: Limits, isPiece?: boolean): number
  /** Whether an amount may be claimed now, without asking other servers. */
  fits(amount: Amount, limits: Limits, terms: ClaimTerms): boolean
  /** Everything that counts, by all servers. */
  used(): Amount
  /**
   * Changes what the uploads of this process have claimed. The store may keep bytes of a piece although this process dies, so that other
   * servers keep them reserved then.
   */
  change(by: Amount, isPiece?: boolean): void
  /** Records a publication or deletion. What the upload has claimed stays claimed until it is changed. */
  record(change: KeptChange): void
  /** Turns claimed bytes into bytes of the unfinished upload, which has `bytes` in all. */
  stage(upload: string, bytes: number, claimed: number): void
  /** The same, if it is not known what the upload has in all: `more` bytes in addition to those that are known. */
  stageMore(upload: string, more: number, claimed: number): void
  /** Frees the bytes of an unfinished upload that was published or discarded. */
  unstage(upload: string): void
  /** How many bytes an unfinished upload is known to have. */
  staged(upload: string): number
  /** The unfinished uploads that are known to have bytes. */
  stagedUploads(): readonly string[]
  /** How many claims have not ended, by the unfinished upload for which they are. */
  readonly pieces: KeyedCounter
  /** How many claims and deletions have not ended. While there are any, the account is more exact than a new count. */
  users: number
  /** Marks the count as too old, so that the store is counted again before a later claim. */
  invalidateCount(): void
  /** What accounts need that several servers share. */
  readonly shared?: SharedAccount
}

/** What matters for a claim besides its amount. */
export interface ClaimTerms {
  /** Bytes of the file that the upload replaces, which will be free when it is published. */
  readonly credit: number
  /** Whether the bytes are a piece of an unfinished upload. */
  readonly isPiece: boolean
}

/** The limits of a customer. */
export type Limits = Pick<Customer, 'quota' | 'maxFiles'>

/** The part of an account for which other servers are asked. */
export interface SharedAccount {
  /**
   * Claims an amount for which there is no room here: asks other servers to give back what they do not use, and has the store counted
   * again. Resolves with whether the amount was claimed.
   */
  take(amount: Amount, limits: Limits, terms: ClaimTerms): Promise<boolean>
  /**
   * Locks the name of a stored file for all servers; resolves with the function that unlocks it. `kept` is the file: its space is
   * about to become free.
   */
  lock(name: string, kept: Amount): Promise<() => void>
  /** Resolves when the others know that this server works, and its claims hold. Await it before the claim is checked a last time. */
  confirm(): Promise<void>
  /**
   * Await this before the publication of an upload that has claimed `amount`: if this server ends meanwhile, the others keep that
   * amount until they know the outcome. Resolves with a function to call when the upload has ended. The bytes of pieces are kept already:
   * `amount` is without them.
   */
  beginPublishing(amount: Amount): Promise<() => void>
  /** Resolves when the other servers can use what was freed. */
  flush(): Promise<void>
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
  /** The account that must know what the customer deletes, if there is one. */
  find(customer: Customer): QuotaAccount | undefined
  /** All customers whose accounts are open. */
  customers(): readonly Customer[]
}

/** While a customer uses no more than this share of the quota, a count is used for the longer time. */
const roomyShare = 0.9

/**
 * How old the count of an account may be, in milliseconds. It is shorter when `size` more bytes nearly use up the quota, since the
 * changes of others matter then.
 */
function countLifetime(
  { bytes, files }: Amount,
  countingMs: number,
  { quota = Infinity, maxFiles = Infinity }: Limits,
  { size, recountAfterMs }: { readonly size: number; readonly recountAfterMs: number },
): number {
  const isRoomy = bytes + size <= roomyShare * quota && files + 1 <= roomyShare * maxFiles
  return isRoomy ? recountAfterMs : Math.min(recountAfterMs, Math.max(1_000, 20 * countingMs))
}

/**
 * Counts the files of a customer, and raises `staged` to the bytes of the unfinished uploads. These come first, so that an upload which
 * another process publishes meanwhile may count twice, but is not missed.
 */
export async function countUsage(
  store: BlobStore,
  customer: string,
  staged: Pick<StagedBytes, 'raise'>,
): Promise<Amount> {
  for await (const uploads of store.resumable?.list(customer) ?? []) {
    for (const { id, offset } of uploads) staged.raise(id, offset)
  }
  const { blobs, bytes } = await store.usage(customer)
  return { bytes, files: blobs }
}

interface LocalAccount extends QuotaAccount {
  readonly customer: Customer
  /** How long the present count may still be used, in milliseconds; not positive if it is too old. */
  timeLeft(limits: Limits, size: number): number
}

/** {@link QuotaAccounts} of this process alone, which ask the store for a customer's files and unfinished uploads. */
export function createQuotaAccounts(
  store: BlobStore,
  { now = () => performance.now(), recountAfterMs = 60_000 }: QuotaAccountsOptions,
): QuotaAccounts {
  const accounts = new Map<string, LocalAccount>()

  const openAccount = (customer: Customer): LocalAccount => {
    let countedAt = now()
    let countingMs = 0
    let kept: Amount = { bytes: 0, files: 0 }
    let claimed: Amount = { bytes: 0, files: 0 }
    const uploads = createStagedBytes()
    const counted = countUsage(store, customer.name, uploads).then((found) => {
      kept = found
      countingMs = now() - countedAt
    })
    const stored = () => ({ bytes: kept.bytes + uploads.total(), files: kept.files })
    const used = () => sum(stored(), claimed)
    return {
      customer,
      counted,
      used,
      room: ({ quota = Infinity }) => quota - used().bytes,
      fits(amount, { quota = Infinity, maxFiles = Infinity }, { credit }) {
        const { bytes, files } = sum(used(), amount)
        return bytes <= quota + credit && (amount.files <= 0 || files <= maxFiles)
      },
      change(by) {
        claimed = sum(claimed, by)
      },
      record({ added, removed, upload }) {
        if (upload !== undefined) uploads.remove(upload)
        kept = difference(sum(kept, added), removed)
      },
      stage(upload, bytes, freed) {
        uploads.raise(upload, bytes)
        claimed = difference(claimed, { bytes: freed, files: 0 })
      },
      stageMore(upload, more, freed) {
        uploads.raise(upload, uploads.of(upload) + more)
        claimed = difference(claimed, { bytes: freed, files: 0 })
      },
      unstage: (upload) => uploads.remove(upload),
      staged: (upload) => uploads.of(upload),
      stagedUploads: () => uploads.ids(),
      pieces: createKeyedCounter(),
      users: 0,
      invalidateCount() {
        countedAt = -Infinity
      },
      timeLeft(limits, size) {
        const options = { size, recountAfterMs }
        return countedAt + countLifetime(stored(), countingMs, limits, options) - now()
      },
    }
  }

  const count = (customer: Customer): QuotaAccount => {
    const account = openAccount(customer)
    // A failed count is dropped, so that the next upload retries.
    account.counted.catch(() => accounts.delete(customer.name))
    accounts.set(customer.name, account)
    return account
  }

  return {
    open(customer, size) {
      const account = accounts.get(customer.name)
      if (account === undefined) return count(customer)
      const isUsable = account.users > 0 || account.timeLeft(customer, size) > 0
      return isUsable ? account : count(customer)
    },
    find: ({ name }) => accounts.get(name),
    customers: () => [...accounts.values()].map(({ customer }) => customer),
  }
}

export function sum(one: Amount, other: Amount): Amount {
  return { bytes: one.bytes + other.bytes, files: one.files + other.files }
}

export function difference(one: Amount, other: Amount): Amount {
  return { bytes: one.bytes - other.bytes, files: one.files - other.files }
}

/** How many bytes each unfinished upload of one customer has, by its id. */
export interface StagedBytes {
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

/** `error` for the user of a link, or a login that may not list: these must not learn the customer's numbers. */
export function withoutNumbers(error: unknown): unknown {
  if (!isFileServiceError(error, 'quota-exceeded') || error instanceof LinkExceeded) return error
  return new FileServiceError('quota-exceeded', 'Quota exceeded')
}

class LinkExceeded extends FileServiceError {}

function exceeded(reason: string): FileServiceError {
  return new FileServiceError('quota-exceeded', `Quota exceeded: ${reason}`)
}
