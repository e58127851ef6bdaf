import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { rejection } from '../../support/expectations.ts'
import { pattern } from '../../support/pattern.ts'
import { chunks, failing, gated, generated, inChunks } from '../../support/sources.ts'

const key = { customer: 'alice', name: 'report.pdf' }

/** How much a customer keeps: published blobs, each with its present size, nothing else. */
export function usage(test: BlobStoreTest): void {
  test('counts blobs and their bytes', async ({ store }) => {
    for (const size of [0, 1, 1000, 70_000]) {
      await store.put({ ...key, name: `${size}` }, generated(size))
    }
    expect(await store.usage('alice')).to.deep.equal({ blobs: 4, bytes: 71_001 })
  })

  test('counts an empty blob', async ({ store }) => {
    await store.put(key, chunks())
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 0 })
  })

  test('counts a replaced blob by its new size', async ({ store }) => {
    await store.put(key, generated(1000))
    await store.put(key, generated(10))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 10 })
  })

  test('no longer counts a deleted blob', async ({ store }) => {
    await store.put(key, generated(1000))
    await store.put({ ...key, name: 'other' }, generated(10))
    await store.delete(key)
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 10 })
  })

  test('does not count what is under way or has failed', async ({ store }) => {
    await store.put(key, generated(1000))
    const { content, stalled, release } = gated(pattern(200_000))
    const put = store.put({ ...key, name: 'pending' }, content)
    await stalled
    const failed = failing(pattern(300_000), new Error('the content failed'))
    await rejection(store.put({ ...key, name: 'failed' }, failed))
    expect(await store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 1000 })
    release()
    await put
    expect(await store.usage('alice')).to.deep.equal({ blobs: 2, bytes: 201_000 })
  })

  test('counts each customer alone', async ({ store }) => {
    for (const customer of ['a', 'ab', 'A', 'b']) {
      await store.put({ customer, name: 'same' }, inChunks(pattern(customer.length * 100)))
    }
    expect(await store.usage('a')).to.deep.equal({ blobs: 1, bytes: 100 })
    expect(await store.usage('ab')).to.deep.equal({ blobs: 1, bytes: 200 })
  })
}
