import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { details, names } from '../../support/expectations.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlobStore } from '@holdfast/core'
import { chunks } from '../../support/sources.ts'

/** Lists and counts of blobs that are there throughout, and replaced all the while: a store may find them at another place then. */
export function listingWhileOverwritten(test: BlobStoreTest): void {
  // One test, since it takes a store longer to keep so many blobs than to list them.
  test('gives each of 1100 names exactly once while they are overwritten', async (harness) => {
    const { store } = harness
    await putManyNames(store)
    const all = { blobs: manyNames.length, bytes: manyNames.length }
    await whileOverwriting([store, await harness.openAgain()], async () => {
      for (let round = 1; round <= 7; round++) {
        expectEachOnce(await names(store, 'alice'), manyNames, `list ${round}`)
      }
      for (let round = 1; round <= 3; round++) {
        const listed = (await details(store, 'alice')).map(({ name }) => name)
        expectEachOnce(listed, manyNames, `list ${round} with details`)
      }
      for (let at = 0; at < manyNames.length; at += 200) {
        const page = await names(store, 'alice', { limit: 200, after: manyNames[at - 1] ?? '' })
        expectEachOnce(page, manyNames.slice(at, at + 200), `the page from name ${at}`)
      }
      for (let round = 1; round <= 5; round++) {
        expect(await store.usage('alice'), `count ${round}`).to.deep.equal(all)
      }
    })
  })
}

/** Counts, since a list of all differences would be long. */
function expectEachOnce(found: readonly string[], expected: readonly string[], what: string): void {
  const different = new Set(found)
  const missing = expected.filter((name) => !different.has(name))
  expect(missing.length, `names missing in ${what}, such as ${missing[0]}`).to.equal(0)
  expect(found.length - different.size, `names repeated in ${what}`).to.equal(0)
  expect(found.join('\n') === expected.join('\n'), `${what} is in order`).to.equal(true)
}

/** Puts under way at a time in each store. */
const concurrency = 8

/** Consecutive puts use distant names, so that names before and after each position of a listing are replaced. */
const stride = 619

/** More than a page of S3, and long enough that a directory of them takes several calls of the system to read. */
const manyNames = Array.from(
  { length: 1100 },
  (_, index) => `n${String(index).padStart(4, '0')}-${'x'.repeat(100)}`,
)

/** Puts one byte under each of {@link manyNames}. */
async function putManyNames(store: BlobStore): Promise<void> {
  for (let at = 0; at < manyNames.length; at += 50) {
    await Promise.all(manyNames.slice(at, at + 50).map((name) => putByte(store, name)))
  }
}

/**
 * Resolves as `body` does, during which all of `stores`, which share their blobs, replace blobs of {@link manyNames} by
 * others of the same size without a pause.
 */
async function whileOverwriting<T>(
  stores: readonly BlobStore[],
  body: () => Promise<T>,
): Promise<T> {
  const state = { isOver: false }
  const overwrite = async (store: BlobStore, first: number) => {
    for (let at = first; !state.isOver; at += stride) {
      await putByte(store, manyNames[at % manyNames.length] ?? '')
      await nextTurn()
    }
  }
  const loops = stores.flatMap((store, number) =>
    Array.from({ length: concurrency }, (_, loop) =>
      overwrite(store, (number * concurrency + loop) * 101),
    ),
  )
  try {
    return await body()
  } finally {
    state.isOver = true
    await Promise.all(loops)
  }
}

async function putByte(store: BlobStore, name: string): Promise<void> {
  await store.put({ customer: 'alice', name }, chunks(Uint8Array.of(1)))
}
