import { FileServiceError } from '../errors.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { Customer } from './customer.ts'
import { createKeyedLock } from './keyed-lock.ts'

/** One upload's part in a customer's quota: its bytes count from the moment they arrive. */
export interface QuotaClaim {
  /** @throws FileServiceError `quota-exceeded` when `bytes` more would exceed the quota; claims nothing. */
  check(bytes: number): void
  /**
   * Claims `bytes` more; nothing once the claim has ended, as content may still wake when its upload was given up.
   * @throws FileServiceError `quota-exceeded` when they would exceed the quota.
   */
  grow(bytes: number): void
  /**
   * To be awaited between the end of the content and its publication: learns what the upload is about to replace, and
   * lets no other upload or deletion of the name come between.
   * @throws FileServiceError `quota-exceeded` when the file that would have made room is gone meanwhile.
   */
  prepare(): Promise<void>
  /** Says that the upload was published. */
  settle(): void
  /** Ends the claim, however the upload ended. */
  end(): void
}

/** Keeps what customers store within their quotas. Customers without a quota cost nothing. */
export interface QuotaKeeper {
  claim(customer: Customer, name: string): Promise<QuotaClaim>
  /** Runs `remove`, which says whether it deleted the file, and frees the bytes. */
  free(customer: Customer, name: string, remove: () => Promise<boolean>): Promise<boolean>
}

export interface QuotaKeeperOptions {
  /** The current time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number
  /** How old a count may be before an idle customer is counted anew, in milliseconds. Default: one minute. */
  readonly recountAfterMs?: number
}

interface Account {
  countedAt: number
  readonly counted: Promise<void>
  /** Bytes in the store. */
  kept: number
  /** Bytes of uploads under way. */
  claimed: number
  /** Claims and deletions that have not ended. While there are any, the books are better than a new count. */
  users: number
}

const noClaim: QuotaClaim = {
  check() {},
  grow() {},
  prepare: async () => {},
  settle() {},
  end() {},
}

/**
 * A {@link QuotaKeeper} that asks the store for a customer's usage and keeps the books from there on. The file that an
 * upload replaces counts as free space, so that a customer who has used more than half can still replace a file. Other
 * processes on the same store are seen when the customer is counted anew.
 */
export function createQuotaKeeper(
  store: BlobStore,
  { now = Date.now, recountAfterMs = 60_000 }: QuotaKeeperOptions = {},
): QuotaKeeper {
  const accounts = new Map<string, Account>()
  const lock = createKeyedLock()
  const lockFile = (customer: Customer, name: string) => lock(`${customer.name}/${name}`)
  const sizeOf = async (customer: Customer, name: string) =>
    (await store.stat({ customer: customer.name, name }))?.size ?? 0

  const count = (customer: string): Account => {
    const counted = store.usage(customer).then(({ bytes }) => {
      account.kept = bytes
    })
    const account: Account = { countedAt: now(), counted, kept: 0, claimed: 0, users: 0 }
    // A count that failed is not kept, so that the next upload tries again.
    counted.catch(() => accounts.delete(customer))
    accounts.set(customer, account)
    return account
  }

  const accountOf = (customer: string): Account => {
    const account = accounts.get(customer)
    const isFresh = account && (account.users > 0 || now() - account.countedAt < recountAfterMs)
    return isFresh ? account : count(customer)
  }

  const openClaim = (customer: Customer, quota: number, name: string, account: Account) => {
    let claimed = 0
    let replaced = 0
    let unlock: (() => void) | undefined
    let ended = false

    const check = (bytes: number) => {
      if (account.kept - replaced + account.claimed + bytes <= quota) return
      throw new FileServiceError('quota-exceeded', `The quota of ${quota} bytes would be exceeded`)
    }
    const lookUpReplaced = async () => {
      replaced = await sizeOf(customer, name)
    }
    const claim: QuotaClaim = {
      check,
      grow(bytes) {
        if (ended) return
        check(bytes)
        claimed += bytes
        account.claimed += bytes
      },
      async prepare() {
        unlock = await lockFile(customer, name)
        // The upload may have been given up while it waited.
        if (ended) return unlock()
        await lookUpReplaced()
        check(0)
      },
      settle() {
        account.kept += claimed - replaced
      },
      end() {
        if (ended) return
        ended = true
        account.claimed -= claimed
        account.users--
        unlock?.()
      },
    }
    return { claim, lookUpReplaced }
  }

  const freeUncounted = async (customer: string, remove: () => Promise<boolean>) => {
    const removed = await remove()
    const account = accounts.get(customer)
    // A count that began meanwhile may have seen the file.
    if (removed && account) account.countedAt = -Infinity
    return removed
  }

  return {
    async claim(customer, name) {
      if (customer.quota === undefined) return noClaim
      const account = accountOf(customer.name)
      account.users++
      const { claim, lookUpReplaced } = openClaim(customer, customer.quota, name, account)
      try {
        await account.counted
        await lookUpReplaced()
      } catch (error) {
        claim.end()
        throw error
      }
      return claim
    },

    async free(customer, name, remove) {
      const account = accounts.get(customer.name)
      if (account === undefined) return freeUncounted(customer.name, remove)
      account.users++
      const unlock = await lockFile(customer, name)
      try {
        // Only the books need the count; where it fails, there are none.
        await account.counted.catch(() => {})
        const size = await sizeOf(customer, name)
        const removed = await remove()
        if (removed) account.kept -= size
        return removed
      } finally {
        account.users--
        unlock()
      }
    },
  }
}
