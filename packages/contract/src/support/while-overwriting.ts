import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlobStore } from '@holdfast/core'
import { chunks } from './sources.ts'

/** Puts under way at a time in each store. */
const concurrency = 8

/** Consecutive puts use distant names, so that names before and after each position of a listing are replaced. */
const stride = 619

/** More than a page of S3, and long enough that a directory of them takes several calls of the system to read. */
export const manyNames = Array.from(
  { length: 1100 },
  (_, index) => `n${String(index).padStart(4, '0')}-${'x'.repeat(100)}`,
)

/** Puts one byte under each of {@link manyNames}. */
export async function putManyNames(store: BlobStore): Promise<void> {
  for (let at = 0; at < manyNames.length; at += 50) {
    await Promise.all(manyNames.slice(at, at + 50).map((name) => putByte(store, name)))
  }
}

/**
 * Resolves as `body` does, during which all of `stores`, which share their blobs, replace blobs of {@link manyNames} by
 * others of the same size without a pause.
 */
export async function whileOverwriting<T>(
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
