import { isLimited, type Customer } from '../model/customer.ts'
import { createKeyedLock } from '../model/keyed-lock.ts'
import { monotonicTime } from '../model/monotonic-time.ts'
import { requireMethods } from '../model/require.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { createQuotaAccounts, type QuotaAccountsOptions } from './quota-accounts.ts'
import { createUploadCounter } from './upload-counter.ts'
import { nothing, openClaim, type BookedClaim, type Kept, type QuotaClaim } from './quota-claim.ts'

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
export interface QuotaBooks extends QuotaKeeper {
  claim(customer: Customer, name: string, size?: number, upload?: string): Promise<BookedClaim>
}

const noClaim: BookedClaim = {
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
): QuotaBooks {
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
