import { expiryWhenFullMs, type ResumableUpload } from '@holdfast/core'
import { expect } from 'chai'
import { collect, expectRefusal } from '../support/expectations.ts'
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
} from '../support/resumable-harness.ts'
import { generated, inChunks, MiB, recorded } from '../support/sources.ts'

/** A store that is full says so, keeps what came, and goes on. */
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

/** A store that cannot be reached says so in every method, and never takes that for absence. */
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
