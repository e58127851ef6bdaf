import { setTimeout as delay } from 'node:timers/promises'
import type { Expiry } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import {
  type BlobStoreHarness,
  globalRunner,
  type SuiteOptions,
  withHarness,
} from './support/suite.ts'
import {
  collect,
  expectAbsent,
  expectBlob,
  expectRefusal,
  expectTidy,
  names,
} from './support/expectations.ts'
import { nastyNames } from './support/nasty-names.ts'
import { pattern, inChunks } from './support/content.ts'

export interface ExpirySuiteOptions extends SuiteOptions {
  /** Opens a store whose medium cannot be reached, to test that it takes no blob for deleted and no note for missing. */
  readonly openUnreachable?: () => Promise<BlobStoreHarness>
}

const key = { customer: 'alice', name: 'a' }
const other = { customer: 'alice', name: 'b' }

/**
 * Declares the tests that `expiry` of a `BlobStore` must pass; a store without it fails them. `open` makes an empty store, as for
 * `describeBlobStore`.
 */
export function describeExpiry(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: ExpirySuiteOptions = {},
): void {
  const { runner = globalRunner(), openUnreachable } = options
  const test = (
    fact: string,
    body: (expiry: Expiry, harness: BlobStoreHarness) => Promise<void>,
    openOne = open,
  ) =>
    runner.it(fact, () =>
      withHarness(openOne, async (harness) => {
        await body(expiryOf(harness), harness)
        await expectTidy(harness)
      }),
    )

  runner.describe(`${name} as Expiry`, () => {
    runner.describe('deletion of what is unchanged', () => deletions(test))
    runner.describe('notes', () => notes(test))
    if (openUnreachable) {
      runner.describe('unreachable', () => {
        const refuse = async (expiry: Expiry) => {
          await expectRefusal(
            expiry.deleteUnchanged('alice', {
              name: 'a',
              size: 1,
              modifiedAt: new Date(0),
              etag: 'x',
            }),
            'store-unavailable',
          )
          await expectRefusal(expiry.readNote('alice'), 'store-unavailable')
          await expectRefusal(expiry.writeNote('alice', 'note'), 'store-unavailable')
        }
        test('rejects with store-unavailable', refuse, openUnreachable)
      })
    }
  })
}

type ExpiryTest = (
  fact: string,
  body: (expiry: Expiry, harness: BlobStoreHarness) => Promise<void>,
) => void

function deletions(test: ExpiryTest): void {
  test('deletes the blob that was described, and no other one', async (expiry, { store }) => {
    const blob = await store.put(key, inChunks(pattern(1000)))
    await store.put(other, inChunks(pattern(500)))
    await store.put({ ...key, customer: 'bob' }, inChunks(pattern(300)))
    expect(await expiry.deleteUnchanged('alice', blob)).to.equal(true)
    await expectAbsent(store, key)
    await expectBlob(store, other, pattern(500))
    await expectBlob(store, { ...key, customer: 'bob' }, pattern(300))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 500 })
    expect(await expiry.deleteUnchanged('alice', blob)).to.equal(false)
  })

  test('keeps a blob that has replaced the one that was described', async (expiry, harness) => {
    const { store } = harness
    const blob = await store.put(key, inChunks(pattern(1000)))
    await store.put(key, inChunks(pattern(1000, { seed: 2 })))
    expect(await expiry.deleteUnchanged('alice', blob)).to.equal(false)
    await expectBlob(store, key, pattern(1000, { seed: 2 }))
  })

  test('keeps a blob of the same content that was put later', async (expiry, { store }) => {
    const blob = await store.put(key, inChunks(pattern(1000)))
    // Some stores have times in whole seconds.
    await delay(1100)
    await store.put(key, inChunks(pattern(1000)))
    expect(await expiry.deleteUnchanged('alice', blob)).to.equal(false)
    await expectBlob(store, key, pattern(1000))
  })

  test('deletes a blob that a list has described', async (expiry, { store }) => {
    await store.put(key, inChunks(pattern(1000)))
    const [blob] = (await collect(store.listDetails('alice'))).flat()
    if (blob === undefined) throw new AssertionError('the list has no blob')
    expect(await expiry.deleteUnchanged('alice', blob)).to.equal(true)
    await expectAbsent(store, key)
  })

  test('finds a blob of another opening, of whatever name', async (expiry, {
    store,
    openAgain,
  }) => {
    const again = await openAgain()
    for (const nasty of nastyNames) {
      const odd = { customer: nasty, name: nasty }
      const blob = await again.put(odd, inChunks(pattern(10)))
      expect(await expiry.deleteUnchanged(odd.customer, blob), JSON.stringify(nasty)).to.equal(true)
      await expectAbsent(store, odd)
    }
  })

  test('loses no blob that is put at the same time', async (expiry, { store }) => {
    for (let count = 0; count < 30; count++) {
      const bytes = pattern(100 + count, { seed: count })
      const blob = await store.put(key, inChunks(pattern(50)))
      const putting = async () => {
        await delay(count % 6)
        return store.put(key, inChunks(bytes))
      }
      await Promise.all([putting(), expiry.deleteUnchanged('alice', blob)])
      await expectBlob(store, key, bytes)
    }
  })

  test('loses no blob that is renamed to the name at the same time', async (expiry, { store }) => {
    const rename = store.rename?.bind(store)
    if (!rename) return
    for (let count = 0; count < 10; count++) {
      const bytes = pattern(100 + count, { seed: count })
      const blob = await store.put(key, inChunks(pattern(50)))
      await store.put(other, inChunks(bytes))
      const renaming = async () => {
        await delay(count % 4)
        return rename(other, key.name)
      }
      await Promise.all([renaming(), expiry.deleteUnchanged('alice', blob)])
      await expectBlob(store, key, bytes)
      await store.delete(key)
    }
  })

  test('lets readers end who have opened the blob', async (expiry, { store }) => {
    const blob = await store.put(key, inChunks(pattern(100_000)))
    const opened = await store.open(key)
    expect(await expiry.deleteUnchanged('alice', blob)).to.equal(true)
    const read = Buffer.concat(await collect(opened?.content ?? inChunks(new Uint8Array())))
    expect(read.equals(pattern(100_000))).to.equal(true)
  })
}

function notes(test: ExpiryTest): void {
  test('are empty before the first', async (expiry) => {
    expect(await expiry.readNote('alice')).to.equal('')
  })

  test('replace each other, and say when they were written', async (expiry) => {
    for (const note of ['1', '~'.repeat(200), '1 2 3 {"quotes"}']) {
      const before = Date.now()
      const written = await expiry.writeNote('alice', note)
      // The clock of another machine may differ a little.
      expect(written.getTime()).to.be.within(before - 60_000, Date.now() + 60_000)
      expect(await expiry.readNote('alice')).to.equal(note)
    }
  })

  test('belong to one customer, of whatever name', async (expiry) => {
    for (const [index, customer] of nastyNames.entries()) {
      expect(await expiry.readNote(customer), JSON.stringify(customer)).to.equal('')
      await expiry.writeNote(customer, `note ${index}`)
    }
    for (const [index, customer] of nastyNames.entries()) {
      expect(await expiry.readNote(customer), JSON.stringify(customer)).to.equal(`note ${index}`)
    }
  })

  test('are read by every opening', async (expiry, { openAgain }) => {
    const again = expiryOf({ store: await openAgain() })
    await expiry.writeNote('alice', 'one')
    expect(await again.readNote('alice')).to.equal('one')
    await again.writeNote('alice', 'two')
    expect(await expiry.readNote('alice')).to.equal('two')
  })

  test('are no blobs, and no generations of links', async (expiry, { store }) => {
    await expiry.writeNote('alice', 'note')
    expect(await names(store, 'alice')).to.deep.equal([])
    expect(await store.usage('alice')).to.deep.equal({ blobs: 0, bytes: 0 })
    expect(await collect(store.customers())).to.deep.equal([])
    expect((await store.linkGenerations?.read('alice')) ?? '').to.equal('')
  })
}

function expiryOf({ store }: Pick<BlobStoreHarness, 'store'>): Expiry {
  if (store.expiry) return store.expiry
  throw new AssertionError('the store has no property "expiry"')
}
