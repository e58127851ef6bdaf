import { expiryWhenFullMs, type ResumableUpload } from '@holdfast/core'
import { expect } from 'chai'
import { collect, expectRefusal, expectBlob, rejection } from '../support/expectations.ts'
import { digest, pattern } from '../support/pattern.ts'
import {
  alice,
  begin,
  expectBytes,
  listedIds,
  longAfter,
  offsetOf,
  planOf,
  type ResumableTest,
  key,
} from '../support/resumable-harness.ts'
import { generated, inChunks, MiB, recorded, failing } from '../support/sources.ts'
import { stalledAppend } from './interrupted-appends.ts'

/** A full store reports that, keeps the bytes that arrived, and continues to work. */
export function fullForUploads(test: ResumableTest): void {
  test('refuses what does not fit, and keeps what it has reported before', async ({ uploads }) => {
    const upload = await begin(uploads)
    const content = recorded(generated(64 * MiB))
    let reported = 0
    const onState = (state: ResumableUpload) => (reported = state.offset)
    await expectRefusal(uploads.append(upload, 0, content, { onState }), 'insufficient-storage')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    const offset = await offsetOf(uploads, upload)
    expect(offset, 'what came')
      .to.be.below(64 * MiB)
      .and.at.least(reported)
    expect(await digest(uploads.content(upload))).to.deep.equal(await digest(generated(offset)))
    expect(await uploads.discard(upload)).to.equal(true)
    const next = await begin(uploads)
    await uploads.append(next, 0, inChunks(pattern(1000)))
    await expectBytes(uploads, next, pattern(1000))
  })

  test('lets an upload that did not fit expire soon, unless it goes on', async ({
    uploads,
    store,
  }) => {
    const upload = await begin(uploads, { expiresAfterMs: 10 * expiryWhenFullMs })
    await expectRefusal(uploads.append(upload, 0, generated(64 * MiB)), 'insufficient-storage')
    await store.put({ customer: 'bob', name: 'small' }, inChunks(pattern(3)))
    const lifetime = async () => {
      const { expiresAt = new Date(0) } = (await uploads.state(upload)) ?? {}
      return expiresAt.getTime() - Date.now()
    }
    expect(await lifetime()).to.be.within(0.9 * expiryWhenFullMs, 1.1 * expiryWhenFullMs)
    await uploads.append(upload, await offsetOf(uploads, upload), inChunks(pattern(3)))
    expect(await lifetime()).to.be.above(9 * expiryWhenFullMs)
  })
}

/** An unreachable store reports that in every method, and never as absence. */
export function unreachableForUploads(test: ResumableTest): void {
  test('refuses to say what is there, and to change it', async ({ uploads }) => {
    const upload = { customer: alice, id: 'x'.repeat(32) }
    await expectRefusal(uploads.begin(alice, planOf()), 'store-unavailable', 'begin')
    await expectRefusal(uploads.state(upload), 'store-unavailable', 'state')
    const content = recorded(generated(6 * MiB))
    await expectRefusal(uploads.append(upload, 0, content), 'store-unavailable', 'append')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectRefusal(uploads.declareLength(upload, 1), 'store-unavailable', 'declareLength')
    await expectRefusal(collect(uploads.content(upload)), 'store-unavailable', 'content')
    await expectRefusal(uploads.publish(upload), 'store-unavailable', 'publish')
    const info = { name: 'a', size: 1, modifiedAt: new Date(0), etag: 'x' }
    expect(await uploads.remember(alice, planOf(), info), 'remember').to.include({ offset: 1 })
    await expectRefusal(uploads.discard(upload), 'store-unavailable', 'discard')
    await expectRefusal(listedIds(uploads, alice), 'store-unavailable', 'list')
    await expectRefusal(uploads.sweep(longAfter()), 'store-unavailable', 'sweep')
  })
}

const before = 100_000

/** Sizes of the appends: some bytes, and more than a store may collect before it sends. */
const sizes = [1, 300_000, 11 * MiB]

/** Either all bytes of such an append count, or none. */
export function allOrNothing(test: ResumableTest): void {
  for (const size of sizes) {
    test(`keeps none of ${size} bytes when the content fails`, async ({ uploads, store }) => {
      const upload = await begin(uploads)
      await uploads.append(upload, 0, inChunks(pattern(before)))
      const error = new Error('the digest differs')
      const content = failing(pattern(size, { seed: 9 }), error)
      const append = uploads.append(upload, before, content, { allOrNothing: true })
      expect(await rejection(append)).to.equal(error)
      await expectBytes(uploads, upload, pattern(before))
      const more = inChunks(pattern(size, { offset: before }))
      const reached = await uploads.append(upload, before, more, { allOrNothing: true })
      expect(reached).to.equal(before + size)
      await uploads.publish(upload)
      await expectBlob(store, key, pattern(before + size))
    })
  }

  test('keeps nothing when the signal aborts', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(before)))
    const controller = new AbortController()
    const options = { allOrNothing: true, signal: controller.signal }
    const { append } = await stalledAppend(uploads, upload, 1000, before, options)
    const reason = new Error('the client left')
    controller.abort(reason)
    expect(await rejection(append)).to.equal(reason)
    await expectBytes(uploads, upload, pattern(before))
  })

  test('keeps nothing when it is interrupted', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(before)))
    const options = { allOrNothing: true }
    const { append } = await stalledAppend(uploads, upload, 1000, before, options)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    await expectBytes(uploads, upload, pattern(before))
  })

  test('shows none of the bytes before the end', async ({ uploads }) => {
    const upload = await begin(uploads)
    const { append } = await stalledAppend(uploads, upload, 7 * MiB, 0, { allOrNothing: true })
    expect((await uploads.state(upload))?.offset).to.equal(0)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    expect((await uploads.state(upload))?.offset).to.equal(0)
  })
}
