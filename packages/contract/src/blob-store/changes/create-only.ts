import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/suite.ts'
import {
  expectBlob,
  expectRefusal,
  expectTidy,
  names,
  rejection,
  expectOneWinner,
} from '../../support/expectations.ts'
import { pattern } from '../../support/pattern.ts'
import { failing, gated, inChunks, recorded } from '../../support/sources.ts'

const key = { customer: 'alice', name: 'report.pdf' }
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
