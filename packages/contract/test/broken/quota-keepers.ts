import {
  createQuotaKeeper,
  type BlobStore,
  type Customer,
  type QuotaClaim,
  type QuotaKeeper,
} from '@holdfast/core'

/** What is wrong with the keepers of a store, the test that has to catch it, and how they are made. */
type BrokenKeepers = readonly [
  flaw: string,
  test: string,
  make: (store: BlobStore) => readonly QuotaKeeper[],
]

const two = (keeper: QuotaKeeper) => [keeper, keeper]

/** One keeper for all, changed by `change`. */
const changed =
  (change: (keeper: QuotaKeeper, store: BlobStore) => Partial<QuotaKeeper>) =>
  (store: BlobStore) => {
    const keeper = createQuotaKeeper(store)
    return two({ ...keeper, ...change(keeper, store) })
  }

/** One keeper for all, whose claims are changed by `change`. */
const withClaims = (change: (claim: QuotaClaim) => Partial<QuotaClaim>) =>
  changed((keeper) => ({
    claim: async (...claimed) => {
      const claim = await keeper.claim(...claimed)
      return { ...claim, ...change(claim) }
    },
  }))

/** One keeper for all, which sees other customers than there are. */
const withCustomers = (customerOf: (customer: Customer) => Customer) =>
  changed((keeper) => ({
    claim: (customer, ...claimed) => keeper.claim(customerOf(customer), ...claimed),
    free: (customer, ...freed) => keeper.free(customerOf(customer), ...freed),
  }))

/** One keeper for all that asks the store each time, and remembers nothing between. */
const forgetful = changed((_keeper, store) => ({
  claim: (...claimed) => createQuotaKeeper(store).claim(...claimed),
  free: (_customer, _name, remove) => remove(),
}))

/** One keeper for all that knows nothing of the file that takes another one's place. */
const withoutSource = changed((keeper) => ({
  free: (customer, name, remove) => keeper.free(customer, name, remove),
}))

/** One keeper for all that does not lock what it frees. */
const unlocked = changed((keeper) => ({
  async free(customer, name, remove, source) {
    const isRemoved = await remove()
    return keeper.free(customer, name, async () => isRemoved, source)
  },
}))

/** Keepers that share nothing. */
const apart = (store: BlobStore) => [createQuotaKeeper(store), createQuotaKeeper(store)]

/** One keeper for all, which never sees the file that an upload replaces. */
const blind = (store: BlobStore) =>
  two(createQuotaKeeper({ ...store, stat: async () => undefined }))

/** One keeper for all, which deletes without a look at its accounts. */
const careless = changed(() => ({ free: (_customer, _name, remove) => remove() }))

export const brokenKeepers: readonly BrokenKeepers[] = [
  [
    'takes one byte too many',
    'claims > take announced bytes up to the quota, and not one more',
    withCustomers((customer) => ({ ...customer, quota: (customer.quota ?? 0) + 1 })),
  ],
  [
    'counts announced bytes only',
    'claims > take arriving bytes up to the quota, and not one more',
    withClaims(() => ({ grow() {} })),
  ],
  [
    'counts arriving bytes only',
    'claims > count an announced size before it arrives, for all',
    changed((keeper) => ({
      claim: async (customer, name, size = 0, upload?: string) => {
        ;(await keeper.claim(customer, name, size, upload)).end()
        return keeper.claim(customer, name, 0, upload)
      },
    })),
  ],
  [
    'keeps what was refused',
    'claims > claim nothing when they are refused',
    changed((keeper) => ({
      claim: async (customer, name, size = 0, upload?: string) => {
        try {
          return await keeper.claim(customer, name, size, upload)
        } catch (error) {
          await keeper.claim(customer, name, 50)
          throw error
        }
      },
    })),
  ],
  [
    'begins with nothing',
    'claims > count what the store has already',
    (store) => two(createQuotaKeeper({ ...store, usage: async () => ({ blobs: 0, bytes: 0 }) })),
  ],
  [
    'counts for itself',
    'claims > count what was published, for all, as soon as the upload has ended',
    apart,
  ],
  [
    'frees nothing when an upload fails',
    'claims > free everything of an upload that fails',
    withClaims(() => ({ end() {} })),
  ],
  [
    'keeps announced bytes that never arrive',
    'claims > free announced bytes that have not arrived at the end of the content',
    withClaims(() => ({ prepare: async () => {} })),
  ],
  [
    'takes late bytes',
    'claims > ignore bytes that arrive after the end',
    (store) => {
      const keeper = createQuotaKeeper(store)
      return two({
        ...keeper,
        claim: async (customer, ...claimed) => {
          const claim = await keeper.claim(customer, ...claimed)
          let late: QuotaClaim | undefined
          const lateClaim = async () => (late ??= await keeper.claim(customer, 'late'))
          let hasEnded = false
          return {
            ...claim,
            end() {
              claim.end()
              hasEnded = true
            },
            grow: (bytes) =>
              hasEnded ? lateClaim().then((opened) => opened.grow(bytes)) : claim.grow(bytes),
          }
        },
      })
    },
  ],
  [
    'counts bytes only',
    'claims > count files, too',
    withCustomers(({ maxFiles: _, ...customer }) => customer),
  ],
  [
    'looks first, and claims later',
    'of many at once > lets in as many announced bytes as fit',
    forgetful,
  ],
  [
    'looks up what is kept when an upload begins',
    'of many at once > never stores more than the quota',
    forgetful,
  ],
  [
    'counts files when an upload begins',
    'of many at once > never stores more files than there may be',
    forgetful,
  ],
  ['counts each upload of a name', 'of many at once > counts uploads of one name once', blind],
  [
    'counts a replaced file for ever',
    'replacements and deletions > counts the file that an upload replaces as free space',
    blind,
  ],
  [
    'never frees what is deleted',
    'replacements and deletions > frees the bytes of a deleted file for all, before the deletion resolves',
    careless,
  ],
  [
    'frees what was not there',
    'replacements and deletions > frees nothing where there was no file',
    changed((keeper, store) => ({
      free: async (customer, name, remove) => {
        await keeper.free(customer, 'a', async () => true)
        return store.stat({ customer: customer.name, name }).then(() => remove())
      },
    })),
  ],
  [
    'frees a file twice',
    'replacements and deletions > counts a file once that is deleted by two at once',
    changed((keeper) => ({
      free: async (customer, name, remove) => {
        // Without the lock both see the file.
        const removed = await remove()
        await keeper.free(customer, name, async () => true)
        await keeper.free(customer, 'b', async () => true)
        return removed
      },
    })),
  ],
  [
    'swallows the error of a deletion',
    'replacements and deletions > rejects with the error of a deletion, and still counts the file',
    changed((keeper) => ({
      free: (customer, name, remove) =>
        keeper.free(customer, name, () => remove().catch(() => false)),
    })),
  ],
  [
    'deletes while a name is published',
    'replacements and deletions > keeps a deletion waiting while an upload of the name is published',
    careless,
  ],
  [
    'forgets unfinished uploads',
    'uploads in pieces > count with their bytes until they are discarded',
    withClaims((claim) => ({ stage: () => claim.stage(0) })),
  ],
  [
    'counts pieces and the file',
    'uploads in pieces > count once when they are published',
    changed((keeper) => ({ claim: (customer, name, size) => keeper.claim(customer, name, size) })),
  ],
  [
    'takes any piece of an upload that replaces a file',
    'uploads in pieces > may use the space of the file that they replace, and no more',
    changed((keeper, store) => ({
      async claim(customer, name, size, upload) {
        const kept = await store.stat({ customer: customer.name, name })
        const isReplacing = kept !== undefined && upload !== undefined
        return keeper.claim(
          isReplacing ? { ...customer, quota: 1e6 } : customer,
          name,
          size,
          upload,
        )
      },
    })),
  ],
  [
    'takes a renamed file for a deleted one',
    'replacements and deletions > counts a renamed file once, and frees the file that it replaces',
    changed((keeper) => ({
      free: (customer, name, remove, source) => keeper.free(customer, source ?? name, remove),
    })),
  ],
  [
    'lets an upload count as free what is renamed meanwhile',
    'replacements and deletions > keeps a rename waiting while an upload to its source is published',
    withoutSource,
  ],
  [
    'renames without a lock',
    'replacements and deletions > keeps a rename waiting while an upload to its target is published',
    unlocked,
  ],
  [
    'limits unfinished uploads of each process',
    'uploads in pieces > are as many as may be unfinished, also at once',
    apart,
  ],
  [
    'never notices the end of an upload',
    'uploads in pieces > may begin again when one was discarded, or published',
    (store) => {
      const begun = new Map<string, number>()
      const keeper = createQuotaKeeper(store)
      return two({
        ...keeper,
        beginUpload: async (customer, most, begin) => {
          const count = (begun.get(customer.name) ?? 0) + 1
          if (count <= most) begun.set(customer.name, count)
          return keeper.beginUpload(customer, count <= most ? most : 0, begin)
        },
      })
    },
  ],
  [
    'takes no quota for none',
    'customers > without limits are never refused',
    withCustomers((customer) => ({ quota: 0, ...customer })),
  ],
  [
    'folds case and form',
    'customers > do not count for each other, whatever they are called',
    withCustomers((customer) => ({ ...customer, name: customer.name.toLowerCase().normalize() })),
  ],
  [
    'remembers the first quota',
    'customers > may have a quota that changes',
    (store) => {
      const first = new Map<string, Customer>()
      const keeper = createQuotaKeeper(store)
      return two({
        ...keeper,
        claim: (customer, ...claimed) => {
          if (!first.has(customer.name)) first.set(customer.name, customer)
          return keeper.claim(first.get(customer.name) ?? customer, ...claimed)
        },
      })
    },
  ],
]
