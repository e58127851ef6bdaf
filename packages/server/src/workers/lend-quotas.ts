import type { BookedClaim, Customer, QuotaBooks } from '@holdfast/core'

/** How many bytes of unknown number may come before a worker has to ask, where the quota leaves room enough. */
const ahead = 1024 * 1024

interface FileOfCustomer {
  readonly customer: Customer
  readonly name: string
}

/** What one worker may ask about quotas. */
export type LentQuotas = ReturnType<typeof lendQuotas>['answers']

/**
 * Lets a worker claim in these books. It says how each claim ends; `end` does for those that are left when it has died.
 * A claim that was publishing then is looked up in the store, as after every publication that failed.
 */
export function lendQuotas(books: QuotaBooks) {
  const claims = new Map<number, BookedClaim>()
  const removals = new Map<number, Removal>()
  let count = 0
  let isGone = false

  const claimOf = (id: number) => {
    const claim = claims.get(id)
    if (claim === undefined) throw new Error('The claim has ended')
    return claim
  }
  const answers = {
    async claim({ customer, name, size }: FileOfCustomer & { readonly size: number }) {
      const claim = await books.claim(customer, name, size)
      const id = count++
      if (isGone) claim.end()
      else claims.set(id, claim)
      return { id, room: claim.reserve(size > 0 ? 0 : ahead) }
    },
    async grow({ id, bytes }: { readonly id: number; readonly bytes: number }) {
      const claim = claimOf(id)
      claim.grow(bytes)
      return { room: claim.reserve(ahead) }
    },
    async prepare({ id, bytes }: { readonly id: number; readonly bytes: number }) {
      const claim = claimOf(id)
      claim.grow(bytes)
      await claim.prepare()
    },
    end({ id, settled }: { readonly id: number; readonly settled: boolean }) {
      const claim = claims.get(id)
      if (settled) claim?.settle()
      claim?.end()
      claims.delete(id)
    },
    async beginRemoval({ customer, name }: FileOfCustomer) {
      const id = count++
      const removal = await beginRemoval(books, customer, name)
      if (isGone) removal.fail()
      else removals.set(id, removal)
      return { id }
    },
    /** Without `removed` nobody knows whether the file has gone. */
    async endRemoval({ id, removed }: { readonly id: number; readonly removed?: boolean }) {
      const removal = removals.get(id)
      removals.delete(id)
      if (removed === undefined) removal?.fail()
      else await removal?.end(removed)
    },
  }
  return {
    answers,
    end() {
      isGone = true
      for (const claim of claims.values()) claim.end()
      for (const removal of removals.values()) removal.fail()
    },
  }
}

interface Removal {
  /** Resolves when it is in the books. */
  end(removed: boolean): Promise<unknown>
  fail(): void
}

/** Resolves when the file may be removed, by somebody else. */
async function beginRemoval(books: QuotaBooks, customer: Customer, name: string): Promise<Removal> {
  const begun = Promise.withResolvers<undefined>()
  const outcome = Promise.withResolvers<boolean>()
  const freed = books.free(customer, name, () => {
    begun.resolve(undefined)
    return outcome.promise
  })
  // The store may have failed before.
  freed.catch(begun.reject)
  await begun.promise
  return {
    end(removed) {
      outcome.resolve(removed)
      return freed
    },
    fail: () => outcome.reject(new Error('The removal failed in a worker')),
  }
}
