import { FileServiceError } from '../model/errors.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { isLimited, type Customer } from '../model/customer.ts'
import { createKeyedLock } from '../model/keyed-lock.ts'
import {
  createQuotaAccounts,
  type QuotaAccount,
  type QuotaAccountsOptions,
} from './quota-accounts.ts'

/**
 * The share of one upload in a customer's quota. Announced bytes count at once, all others when they arrive. The file
 * counts as one more file, unless it replaces one.
 */
export interface QuotaClaim {
  /**
   * Counts `bytes` that have arrived: first against the reserved bytes, then against the free ones. Does nothing after
   * the claim has ended: the content of an upload that was given up may still deliver a chunk. Returns a promise only
   * if another process must be asked; the next chunk waits for it.
   * @throws FileServiceError `quota-exceeded` when they would exceed the quota.
   */
  grow(bytes: number): void | Promise<void>
  /**
   * Await it between the end of the content and its publication. It looks up the file that the upload replaces, and locks
   * the name against other uploads and deletions until the claim ends. Reserved bytes that did not arrive become free.
   * @throws FileServiceError `quota-exceeded` when the upload relied on replacing a file, and that file is gone meanwhile.
   */
  prepare(): Promise<void>
  /** Records that the upload was published. */
  settle(): void
  /** Ends the claim, after success and failure alike. If publishing failed, the next claim waits for a look at the store. */
  end(): void
}

/** Keeps what customers store within their quotas of bytes and of files. Customers without either cost nothing. */
export interface QuotaKeeper {
  /**
   * Begins a claim, and reserves `size` bytes for it. Default: 0, for an unknown size.
   * @throws FileServiceError `quota-exceeded` when they, or one more file, would exceed the quota; claims nothing.
   */
  claim(customer: Customer, name: string, size?: number): Promise<QuotaClaim>
  /** Runs `remove`, which says whether it deleted the file, and frees the bytes. */
  free(customer: Customer, name: string, remove: () => Promise<boolean>): Promise<boolean>
}

/** A claim in accounts that this process keeps itself. */
export interface BookedClaim extends QuotaClaim {
  grow(bytes: number): void
  /**
   * Reserves up to `bytes` ahead for content of unknown size, and returns how many bytes may now arrive without exceeding
   * the quota. Reserves at most 1/64 of the free quota. For a process that keeps the accounts of others, so that they
   * need not ask about every chunk.
   */
  reserve(bytes: number): number
  /**
   * Unlocks the name although the upload has not ended since `prepare`. From then on its bytes and one file count in
   * addition to those of others, until the customer is counted again.
   */
  yieldName(): void
  /**
   * Ends the claim of a process that has died. If it was publishing, the store may still finish that until `over`
   * resolves: until then the bytes count and the name stays locked; then the outcome is looked up.
   */
  endAfter(over: Promise<unknown>): void
}

/** A {@link QuotaKeeper} that keeps the accounts itself. */
export interface QuotaBooks extends QuotaKeeper {
  claim(customer: Customer, name: string, size?: number): Promise<BookedClaim>
}

/** The share of the free quota that is reserved for bytes that may never arrive. */
const shareAhead = 1 / 64

/** What the store keeps under a name. */
interface Kept {
  readonly bytes: number
  readonly files: 0 | 1
}

const nothing: Kept = { bytes: 0, files: 0 }

const noClaim: BookedClaim = {
  grow() {},
  reserve: () => Infinity,
  prepare: async () => {},
  settle() {},
  end() {},
  yieldName() {},
  endAfter() {},
}

/**
 * A {@link QuotaKeeper} that asks the store for a customer's usage once, and keeps the accounts from then on. The file that
 * an upload replaces counts as free space, so that a customer who has used more than half can still replace a file.
 * Changes by other processes are noticed when the customer is counted again.
 */
export function createQuotaKeeper(
  store: BlobStore,
  options: QuotaAccountsOptions = {},
): QuotaBooks {
  const accounts = createQuotaAccounts(store, options)
  const lock = createKeyedLock()
  const lockFile = (customer: Customer, name: string) => lock(`${customer.name}/${name}`)
  const lookUp = async (customer: Customer, name: string): Promise<Kept> => {
    const info = await store.stat({ customer: customer.name, name })
    return info ? { bytes: info.size, files: 1 } : nothing
  }

  const openClaim = (customer: Customer, name: string, account: QuotaAccount) => {
    const { quota = Infinity, maxFiles = Infinity } = customer
    let arrived = 0
    let claimed = 0
    let claimedFiles = 0
    let replaced = nothing
    let unlock: (() => void) | undefined
    let isPublishing = false
    let hasYielded = false
    let ended = false

    const room = () => quota - (account.kept - replaced.bytes + account.claimed)
    const check = (bytes: number) => {
      if (bytes <= room()) return
      throw new FileServiceError('quota-exceeded', `The quota of ${quota} bytes would be exceeded`)
    }
    const change = (bytes: number) => {
      if (ended) return
      claimed += bytes
      account.claimed += bytes
    }
    const claimFiles = (files: number) => {
      if (ended) return
      account.claimedFiles += files - claimedFiles
      claimedFiles = files
    }
    /** Claims the file that the upload adds, or gives the claim back where it is going to replace one. */
    const claimFile = () => {
      const files = 1 - replaced.files
      const inAll = account.files + account.claimedFiles + files - claimedFiles
      if (files > claimedFiles && inAll > maxFiles) {
        const limit = `The quota of ${maxFiles} file(s)`
        throw new FileServiceError('quota-exceeded', `${limit} would be exceeded`)
      }
      claimFiles(files)
    }
    const announce = async (size: number) => {
      replaced = await lookUp(customer, name)
      check(size)
      claimFile()
      change(size)
    }
    const release = () => {
      account.claimed -= claimed
      account.claimedFiles -= claimedFiles
      account.users--
      unlock?.()
    }
    /** A store that fails while it publishes leaves nobody knowing what it keeps: to be looked up before others claim. */
    const lookUpOutcome = async () => {
      try {
        const found = await lookUp(customer, name)
        // Not in one with the waiting: meanwhile others change what is kept.
        account.kept += found.bytes - replaced.bytes
        account.files += found.files - replaced.files
      } catch {
        // The worse, until the next count.
        account.kept += Math.max(0, arrived - replaced.bytes)
        account.files += 1 - replaced.files
        account.countedAt = -Infinity
      }
      release()
    }
    /** What others have made of the name meanwhile is in the books already, or not yet: more than the truth is safe. */
    const assumeWorst = () => {
      account.kept += arrived
      account.files++
      account.countedAt = -Infinity
    }
    const claim: BookedClaim = {
      grow(bytes) {
        if (ended) return
        const more = arrived + bytes - claimed
        if (more > 0) {
          check(more)
          change(more)
        }
        arrived += bytes
      },
      reserve(bytes) {
        const missing = bytes - (claimed - arrived)
        change(Math.max(0, Math.min(missing, Math.floor(room() * shareAhead))))
        return claimed - arrived
      },
      async prepare() {
        unlock = await lockFile(customer, name)
        // The upload may have been given up during the wait.
        if (ended) return unlock()
        replaced = await lookUp(customer, name)
        change(arrived - claimed)
        check(0)
        claimFile()
        isPublishing = !ended
      },
      settle() {
        if (hasYielded) assumeWorst()
        else {
          account.kept += arrived - replaced.bytes
          account.files += 1 - replaced.files
        }
        isPublishing = false
      },
      yieldName() {
        if (!isPublishing || ended) return
        hasYielded = true
        // The replaced file may be deleted meanwhile, and a new one stored.
        claimFiles(1)
        unlock?.()
      },
      endAfter(over) {
        if (ended || !isPublishing || hasYielded) return claim.end()
        ended = true
        void over.then(lookUpOutcome)
      },
      end() {
        if (ended) return
        ended = true
        if (isPublishing && hasYielded) assumeWorst()
        if (!isPublishing || hasYielded) return release()
        account.counted = Promise.all([account.counted, lookUpOutcome()]).then(() => {})
      },
    }
    return { claim, announce }
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

  return {
    async claim(customer, name, size = 0) {
      if (!isLimited(customer)) return noClaim
      const account = accounts.open(customer, size)
      account.users++
      const { claim, announce } = openClaim(customer, name, account)
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
  }
}
