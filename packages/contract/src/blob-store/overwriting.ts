import { setImmediate } from 'node:timers/promises'
import type { BlobKey, BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import {
  digest,
  pattern,
  chunks,
  gated,
  generated,
  inChunks,
  MiB,
  slow,
  failing,
  recorded,
} from '../support/content.ts'
import {
  expectAbsent,
  expectBlob,
  names,
  expectOneWinner,
  expectRefusal,
  expectTidy,
  rejection,
} from '../support/expectations.ts'
import type { BlobStoreTest } from '../support/suite.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const old = pattern(200_000, { seed: 1 })

/** A new blob replaces the old one in one step: readers get either one or the other, complete. */
export function overwriting(test: BlobStoreTest): void {
  for (const size of [0, 1, 65_536, 200_000, 5 * MiB]) {
    test(`replaces 200000 bytes with ${size} others`, async ({ store }) => {
      await store.put(key, inChunks(old))
      await store.put(key, generated(size, 2))
      await expectBlob(store, key, pattern(size, { seed: 2 }))
      expect(await names(store, 'alice')).to.deep.equal([key.name])
      expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: size })
    })
  }

  test('gives blobs of different content that were under a key different etags', async ({
    store,
  }) => {
    const etags: string[] = []
    for (const seed of [1, 2, 3, 4]) {
      etags.push((await store.put(key, chunks(pattern(100, { seed })))).etag)
    }
    await store.delete(key)
    etags.push((await store.put(key, chunks(pattern(100, { seed: 5 })))).etag)
    expect(new Set(etags).size, `different ones of ${etags.join(' ')}`).to.equal(etags.length)
  })

  test('shows the earlier blob until the content of the new one has ended', async ({ store }) => {
    await store.put(key, inChunks(old))
    const { content, stalled, release } = gated(pattern(300_000, { seed: 2 }), pattern(1))
    const put = store.put(key, content)
    await stalled
    await expectBlob(store, key, old)
    release()
    await put
    expect((await store.stat(key))?.size).to.equal(300_001)
  })

  test('shows no blob until the content of the first one has ended', async ({ store }) => {
    const { content, stalled, release } = gated(pattern(300_000))
    const put = store.put(key, content)
    await stalled
    await expectAbsent(store, key)
    expect(await store.usage('alice')).to.deep.equal({ blobs: 0, bytes: 0 })
    release()
    await put
    await expectBlob(store, key, pattern(300_000))
  })

  puttingAtOnce(test)
  readingMeanwhile(test)
}

function puttingAtOnce(test: BlobStoreTest): void {
  test('keeps one of ten blobs put at once, whole', async ({ store }) => {
    const puts = Array.from({ length: 10 }, (_, seed) =>
      store.put(key, slow(pattern(100_000 + seed, { seed }), 9_000)),
    )
    const infos = (await Promise.allSettled(puts)).flatMap((put) =>
      put.status === 'fulfilled' ? [put.value] : [],
    )
    expect(infos, 'puts that succeed').not.to.have.length(0)
    const kept = await store.stat(key)
    expect(infos).to.deep.include(kept)
    const seed = (kept?.size ?? 0) - 100_000
    await expectBlob(store, key, pattern(100_000 + seed, { seed }))
    expect(await names(store, 'alice')).to.deep.equal([key.name])
  })

  test('shows whole blobs only while ten puts replace each other', async ({ store }) => {
    await store.put(key, inChunks(old))
    let putting = true
    const puts = Array.from({ length: 10 }, (_, index) =>
      store.put(key, slow(pattern(150_000 + index, { seed: index }), 20_000)),
    )
    const all = Promise.allSettled(puts).finally(() => (putting = false))
    while (putting) {
      await expectWholeBlob(store, key)
      // Without a pause, a store that answers within one tick of the event loop would keep the timers of the puts from firing.
      await setImmediate()
    }
    await all
    await expectWholeBlob(store, key)
  })

  test('publishes a put that was overtaken by another put and by a delete', async ({ store }) => {
    const first = gated(pattern(1000, { seed: 3 }))
    const put = store.put(key, first.content)
    await first.stalled
    await store.put(key, inChunks(old))
    await expectBlob(store, key, old)
    expect(await store.delete(key)).to.equal(true)
    first.release()
    await put
    await expectBlob(store, key, pattern(1000, { seed: 3 }))
  })
}

async function expectWholeBlob(store: BlobStore, blobKey: BlobKey): Promise<void> {
  const blob = await store.open(blobKey)
  if (!blob) throw new Error('the blob vanished while it was replaced')
  const { size } = blob.info
  const seed = size === old.length ? 1 : size - 150_000
  expect(await digest(blob.content)).to.deep.equal(await digest([pattern(size, { seed })]))
}

function readingMeanwhile(test: BlobStoreTest): void {
  const bytes = pattern(5 * MiB)
  const changes: Record<string, (store: BlobStore) => Promise<unknown>> = {
    'replaced by a longer one': (store) => store.put(key, generated(6 * MiB, 2)),
    'replaced by one of the same size': (store) => store.put(key, generated(5 * MiB, 2)),
    'replaced by an empty one': (store) => store.put(key, chunks()),
    deleted: (store) => store.delete(key),
    'deleted and put anew': async (store) => {
      await store.delete(key)
      await store.put(key, generated(5 * MiB, 3))
    },
  }
  for (const [change, apply] of Object.entries(changes)) {
    test(`reads an opened blob to its end after it is ${change}`, async ({ store }) => {
      const info = await store.put(key, inChunks(bytes))
      const [unread, begun] = [await store.open(key), await store.open(key)]
      if (!unread || !begun) throw new Error('the blob is missing')
      async function* changingAfterFirst(content: AsyncIterable<Uint8Array>) {
        let changed = false
        for await (const chunk of content) {
          yield chunk
          if (!changed) await apply(store)
          changed = true
        }
      }
      expect(await digest(changingAfterFirst(begun.content)), 'half read').to.deep.equal(
        await digest([bytes]),
      )
      expect(unread.info, 'info').to.deep.equal(info)
      expect(await digest(unread.content), 'unread').to.deep.equal(await digest([bytes]))
    })
  }
}

/**
 * A change that one instance of the store has acknowledged is visible to another: nothing acknowledged is only in one process's memory.
 * (Each adapter's own tests check that a blob survives a power cut after that.)
 */
export function sharing(test: BlobStoreTest): void {
  test('shows another opening a blob once put has resolved', async ({ store, openAgain }) => {
    const info = await store.put(key, generated(5 * MiB))
    const other = await openAgain()
    expect(await other.stat(key)).to.deep.equal(info)
    await expectBlob(other, key, pattern(5 * MiB))
    expect(await names(other, 'alice')).to.deep.equal([key.name])
    expect(await other.usage('alice')).to.deep.equal({ blobs: 1, bytes: 5 * MiB })
  })

  test('shows an opening made before what another puts, replaces and deletes', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await expectAbsent(other, key)
    await store.put(key, generated(1000))
    await expectBlob(other, key, pattern(1000))
    await other.put(key, generated(10, 2))
    await expectBlob(store, key, pattern(10, { seed: 2 }))
    expect(await other.delete(key)).to.equal(true)
    await expectAbsent(store, key)
  })

  test('lets exactly one of twenty create-only puts through two openings succeed', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await expectOneWinner(Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other)))
  })

  test('leaves a put under way alone when the data is opened again', async ({
    store,
    openAgain,
  }) => {
    const { content, stalled, release } = gated(pattern(300_000))
    const put = store.put(key, content)
    await stalled
    const other = await openAgain()
    await expectAbsent(other, key)
    release()
    await put
    await expectBlob(other, key, pattern(300_000))
  })

  test('leaves a blob that is being read alone when another opening replaces it', async ({
    store,
    openAgain,
  }) => {
    const other = await openAgain()
    await store.put(key, inChunks(pattern(1000)))
    const blob = await store.open(key)
    await other.put(key, generated(1000, 2))
    const read: Uint8Array[] = []
    for await (const chunk of blob?.content ?? []) read.push(Buffer.from(chunk))
    expect(Buffer.concat(read).equals(pattern(1000))).to.equal(true)
  })
}

const createOnlyOption = { createOnly: true }

/** A create-only put never replaces a blob, however many race for the name, and never blocks the name without storing a blob. */
export function createOnly(test: BlobStoreTest): void {
  test('stores under a free name', async ({ store }) => {
    const info = await store.put(key, inChunks(pattern(70_000)), createOnlyOption)
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBlob(store, key, pattern(70_000))
  })

  test('refuses a taken name, closes the content and keeps the earlier blob', async (harness) => {
    const { store } = harness
    const info = await store.put(key, inChunks(pattern(100)))
    const content = recorded(inChunks(pattern(500_000, { seed: 2 })))
    await expectRefusal(store.put(key, content, createOnlyOption), 'already-exists')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectTidy(harness)
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBlob(store, key, pattern(100))
  })

  test('refuses an empty blob for a name taken by an empty blob', async ({ store }) => {
    await store.put(key, inChunks(pattern(0)), createOnlyOption)
    await expectRefusal(store.put(key, inChunks(pattern(0)), createOnlyOption), 'already-exists')
  })

  test('lets exactly one of twenty puts at once succeed', async ({ store }) => {
    await expectOneWinner(Array.from({ length: 20 }, () => store))
  })

  test('refuses when the name is taken while the content is under way', async (harness) => {
    const { store } = harness
    const late = gated(pattern(200_000, { seed: 2 }))
    const put = store.put(key, late.content, createOnlyOption)
    await late.stalled
    await store.put(key, inChunks(pattern(100)))
    late.release()
    await expectRefusal(put, 'already-exists')
    await expectTidy(harness)
    await expectBlob(store, key, pattern(100))
  })

  test('refuses no put because of another that is not published', async ({ store }) => {
    const pending = gated(pattern(200_000, { seed: 2 }))
    const controller = new AbortController()
    const options = { ...createOnlyOption, signal: controller.signal }
    const put = store.put(key, pending.content, options)
    await pending.stalled
    await store.put(key, inChunks(pattern(100)), createOnlyOption)
    controller.abort(new Error('the client left'))
    await rejection(put)
    await expectBlob(store, key, pattern(100))
  })

  test('stores after a create-only put whose content failed', async ({ store }) => {
    const error = new Error('the content failed')
    const put = store.put(key, failing(pattern(200_000), error), createOnlyOption)
    expect(await rejection(put)).to.equal(error)
    expect(await names(store, 'alice')).to.deep.equal([])
    await store.put(key, inChunks(pattern(10)), createOnlyOption)
    await expectBlob(store, key, pattern(10))
  })

  test('stores under a name that was deleted', async ({ store }) => {
    await store.put(key, inChunks(pattern(100)), createOnlyOption)
    await store.delete(key)
    await store.put(key, inChunks(pattern(10)), createOnlyOption)
    await expectBlob(store, key, pattern(10))
  })

  test('replaces unless the put is create-only', async ({ store }) => {
    await store.put(key, inChunks(pattern(100)), createOnlyOption)
    await store.put(key, inChunks(pattern(10)), { createOnly: false })
    await expectBlob(store, key, pattern(10))
  })
}
