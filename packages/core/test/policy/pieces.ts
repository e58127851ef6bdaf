import type { Customer } from '../../src/model/customer.ts'
import { createKeyedLock } from '../../src/model/concurrency.ts'
import type { ResumableUploads } from '../../src/ports/resumable-uploads.ts'
import { chunks } from '../content.ts'
import { bookkeeping, type Bookkeeping } from './bookkeeping.ts'

/** Uploads in pieces as the service does them: first the claim, then the store. */
export interface Pieces {
  readonly uploads: ResumableUploads
  /** Begins an upload; resolves to its id. */
  readonly begin: (customer: Customer, name: string, createOnly?: boolean) => Promise<string>
  /** Adds a piece of `size` bytes, of which the store keeps the first `kept`. Default: all. */
  readonly append: (customer: Customer, id: string, size: number, kept?: number) => Promise<void>
  readonly publish: (customer: Customer, id: string) => Promise<void>
  readonly discard: (customer: Customer, id: string) => Promise<void>
}

/** Books over a memory store, and uploads in pieces in it. */
export function openPieces(): Bookkeeping & Pieces {
  const books = bookkeeping()
  return { ...books, ...piecesOf(books) }
}

export function piecesOf({ keeper, store }: Bookkeeping): Pieces {
  const uploads = store.resumable
  if (uploads === undefined) throw new Error('The store keeps no uploads in pieces')
  const stateOf = async ({ name: customer }: Customer, id: string) => {
    const upload = await uploads.state({ customer, id })
    if (upload === undefined) throw new Error('There is no such upload')
    return upload
  }
  const publishing = createKeyedLock()
  const publishAlone = async (customer: Customer, id: string) => {
    const { plan, offset, published } = await stateOf(customer, id)
    if (published) return
    const claim = await keeper.claim(customer, plan.name, 0, id)
    try {
      claim.stage(offset)
      await claim.prepare()
      const { size } = await uploads.publish({ customer: customer.name, id })
      claim.stage(size)
      claim.settle()
    } finally {
      claim.end()
    }
  }
  return {
    uploads,
    async begin(customer, name, createOnly = false) {
      const plan = { name, createOnly, expiresAfterMs: 60_000 }
      return (await uploads.begin(customer.name, plan)).id
    },
    async append(customer, id, size, kept = size) {
      const { plan, offset } = await stateOf(customer, id)
      const claim = await keeper.claim(customer, plan.name, 0, id)
      try {
        void claim.grow(size)
        claim.stage(await uploads.append({ customer: customer.name, id }, offset, chunks(kept)))
      } finally {
        claim.end()
      }
    },
    async publish(customer, id) {
      const leave = await publishing(id)
      try {
        await publishAlone(customer, id)
      } finally {
        leave()
      }
    },
    async discard(customer, id) {
      if (await uploads.discard({ customer: customer.name, id })) await keeper.release(customer, id)
    },
  }
}
