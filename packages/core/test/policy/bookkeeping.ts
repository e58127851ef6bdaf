import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { Customer } from '../../src/model/customer.ts'
import type { QuotaAccountsOptions } from '../../src/policy/quota-accounts.ts'
import { createQuotaKeeper, type LocalQuotaKeeper } from '../../src/policy/quota-keeper.ts'
import type { BlobStore } from '../../src/ports/blob-store.ts'
import { chunks } from '../content.ts'

/** A quota keeper over a memory store, with a clock that stands still. */
export interface Bookkeeping {
  readonly keeper: LocalQuotaKeeper
  /** The store itself, past the keeper and the overrides. */
  readonly store: BlobStore
  /** What the keeper finds instead of the store's own answers, while it is set. */
  readonly overrides: Partial<Pick<BlobStore, 'usage' | 'stat'>>
  /** How often the keeper asked for a usage. */
  readonly counts: () => number
  readonly pass: (milliseconds: number) => void
  /** Stores a file of `size` bytes as an upload does. */
  readonly put: (customer: Customer, name: string, size: number) => Promise<void>
  readonly remove: (customer: Customer, name: string) => Promise<boolean>
  /** How many bytes a new file of the customer may have. */
  readonly room: (customer: Customer) => Promise<number>
}

export function bookkeeping(options: QuotaAccountsOptions = {}): Bookkeeping {
  const store = createMemoryBlobStore()
  const overrides: Bookkeeping['overrides'] = {}
  let counts = 0
  let time = 0
  const seen: BlobStore = {
    ...store,
    stat: (key) => (overrides.stat ? overrides.stat(key) : store.stat(key)),
    usage: (customer) => {
      counts++
      return overrides.usage ? overrides.usage(customer) : store.usage(customer)
    },
  }
  const keeper = createQuotaKeeper(seen, { now: () => time, ...options })
  return {
    keeper,
    store,
    overrides,
    counts: () => counts,
    pass: (milliseconds) => void (time += milliseconds),
    async put(customer, name, size) {
      const claim = await keeper.claim(customer, name)
      try {
        void claim.grow(size)
        await claim.prepare()
        await store.put({ customer: customer.name, name }, chunks(size))
        claim.settle()
      } finally {
        claim.end()
      }
    },
    remove: (customer, name) =>
      keeper.free(customer, name, () => store.delete({ customer: customer.name, name })),
    room: (customer) => roomOf(keeper, customer),
  }
}

async function roomOf(keeper: LocalQuotaKeeper, customer: Customer): Promise<number> {
  const claim = await keeper.claim(customer, 'a name that no test uses')
  let room = 0
  try {
    while (true) {
      void claim.grow(1)
      room++
    }
  } catch {
    return room
  } finally {
    claim.end()
  }
}
