import type { BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import { pattern, failing, gated, inChunks, MiB, recorded, generated } from '../support/content.ts'
import {
  expectAbsent,
  expectBlob,
  expectTidy,
  promptly,
  rejection,
  collect,
  details,
  expectRefusal,
  names,
} from '../support/expectations.ts'
import type { BlobStoreHarness, BlobStoreTest } from '../support/suite.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const old = pattern(100_000, { seed: 7 })

/** Content that fails, and signals that abort: the caller gets the original error, and the store is unchanged. */
export function interruptedWrites(test: BlobStoreTest): void {
  failingContent(test)
  abortBeforeAndAfter(test)
  abortDuring(test)
}

async function expectUntouched(harness: BlobStoreHarness): Promise<void> {
  await expectTidy(harness)
  await expectAbsent(harness.store, key)
  expect(await harness.store.usage(key.customer)).to.deep.equal({ blobs: 0, bytes: 0 })
}

function failingContent(test: BlobStoreTest): void {
  const points = { 'at its start': 0, 'in the middle': 1_000_000, 'after 6 MiB': 6 * MiB }
  for (const [point, size] of Object.entries(points)) {
    test(`leaves nothing when content fails ${point}`, async (harness) => {
      const error = new RangeError('the content failed')
      const put = harness.store.put(key, failing(pattern(size), error))
      expect(await rejection(put), 'the very error').to.equal(error)
      await expectUntouched(harness)
    })

    test(`keeps the earlier blob when content fails ${point}`, async (harness) => {
      const { store } = harness
      const info = await store.put(key, inChunks(old))
      const error = new RangeError('the content failed')
      expect(await rejection(store.put(key, failing(pattern(size), error)))).to.equal(error)
      await expectTidy(harness)
      expect(await store.stat(key)).to.deep.equal(info)
      await expectBlob(store, key, old)
    })
  }

  test('stores a blob after one whose content failed', async ({ store }) => {
    await rejection(store.put(key, failing(pattern(500_000), new Error('the content failed'))))
    await store.put(key, inChunks(old))
    await expectBlob(store, key, old)
  })

  test('leaves nothing when content cannot be iterated at all', async (harness) => {
    const error = new Error('no iterator')
    const content: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]() {
        throw error
      },
    }
    expect(await rejection(harness.store.put(key, content))).to.equal(error)
    await expectUntouched(harness)
  })
}

function abortBeforeAndAfter(test: BlobStoreTest): void {
  test('rejects with the reason when the signal aborted before', async (harness) => {
    const content = recorded(inChunks(pattern(1000)))
    const reason = new Error('gone before it began')
    const put = harness.store.put(key, content, { signal: AbortSignal.abort(reason) })
    expect(await rejection(put)).to.equal(reason)
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectUntouched(harness)
  })

  test('takes no notice of an abort after the promise has settled', async ({ store }) => {
    const controller = new AbortController()
    const info = await store.put(key, inChunks(old), { signal: controller.signal })
    controller.abort(new Error('too late'))
    await store.put({ ...key, name: 'other' }, inChunks(pattern(10)))
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBlob(store, key, old)
  })

  test('stores with a signal that never aborts', async ({ store }) => {
    await store.put(key, inChunks(old), { signal: new AbortController().signal })
    await expectBlob(store, key, old)
  })
}

function abortDuring(test: BlobStoreTest): void {
  for (const size of [0, 1, 300_000, 6 * MiB]) {
    test(`rejects at once when content stalls after ${size} bytes and the signal aborts`, async (harness) => {
      await harness.store.put({ ...key, name: 'other' }, inChunks(old))
      await harness.store.delete({ ...key, name: 'other' })
      const reason = await abortStalledPut(harness.store, size)
      expect(reason.rejectedWith, 'the very reason').to.equal(reason.abortedWith)
      expect(reason.closed, 'content is closed').to.equal(true)
      await expectUntouched(harness)
    })
  }

  test('keeps the earlier blob when the signal aborts', async (harness) => {
    const info = await harness.store.put(key, inChunks(old))
    await abortStalledPut(harness.store, 300_000)
    await expectTidy(harness)
    expect(await harness.store.stat(key)).to.deep.equal(info)
    await expectBlob(harness.store, key, old)
  })

  test('rejects with a reason that is no error', async (harness) => {
    const { content, stalled } = gated(pattern(10))
    const controller = new AbortController()
    const put = harness.store.put(key, content, { signal: controller.signal })
    await stalled
    controller.abort('the client left')
    expect(await rejection(put)).to.equal('the client left')
    await expectUntouched(harness)
  })

  test('rejects when the signal aborts in the last step of the content', async (harness) => {
    const controller = new AbortController()
    const reason = new Error('aborted at the very end')
    async function* content() {
      yield* inChunks(pattern(100_000))
      controller.abort(reason)
    }
    const put = harness.store.put(key, content(), { signal: controller.signal })
    expect(await rejection(put)).to.equal(reason)
    await expectUntouched(harness)
  })
}

async function abortStalledPut(store: BlobStore, size: number) {
  const { content, stalled } = gated(pattern(size))
  const source = recorded(content)
  const controller = new AbortController()
  const put = store.put(key, source, { signal: controller.signal })
  await promptly(stalled, 'taking the content')
  const abortedWith = new Error('the client left')
  controller.abort(abortedWith)
  const rejectedWith = await rejection(put, 'the put whose content stalls')
  return { abortedWith, rejectedWith, closed: source.isClosed() }
}

/** A full store reports that, closes the content, keeps its blobs and continues to work. */
export function fullStore(test: BlobStoreTest): void {
  test('refuses what does not fit and leaves nothing of it', async (harness) => {
    const content = recorded(generated(64 * MiB))
    await expectRefusal(harness.store.put(key, content), 'insufficient-storage')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectTidy(harness)
    await expectAbsent(harness.store, key)
  })

  test('keeps the earlier blob of what does not fit, and stores what does', async ({ store }) => {
    const info = await store.put(key, inChunks(pattern(1000)))
    await expectRefusal(store.put(key, generated(64 * MiB)), 'insufficient-storage')
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBlob(store, key, pattern(1000))
    await store.put(key, inChunks(pattern(2000)))
    await expectBlob(store, key, pattern(2000))
  })
}

/** An unreachable store reports that in every method, and never as absence. */
export function unreachableStore(test: BlobStoreTest): void {
  test('refuses a put and closes its content', async ({ store }) => {
    const content = recorded(generated(6 * MiB))
    await expectRefusal(store.put(key, content), 'store-unavailable')
    expect(content.isClosed(), 'content is closed').to.equal(true)
  })

  test('refuses to say what is there', async ({ store }) => {
    await expectRefusal(store.stat(key), 'store-unavailable', 'stat')
    await expectRefusal(store.open(key), 'store-unavailable', 'open')
    await expectRefusal(store.delete(key), 'store-unavailable', 'delete')
    await expectRefusal(names(store, 'alice'), 'store-unavailable', 'list')
    await expectRefusal(details(store, 'alice'), 'store-unavailable', 'listDetails')
    await expectRefusal(store.usage('alice'), 'store-unavailable', 'usage')
    await expectRefusal(collect(store.customers()), 'store-unavailable', 'customers')
  })
}
