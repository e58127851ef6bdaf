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
  test('refuses what does not fit, and keeps what came before', async ({ uploads }) => {
    const upload = await begin(uploads)
    const content = recorded(generated(64 * MiB))
    await expectRefusal(uploads.append(upload, 0, content), 'insufficient-storage')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    const offset = await offsetOf(uploads, upload)
    expect(offset, 'what came').to.be.below(64 * MiB)
    expect(await digest(uploads.content(upload))).to.deep.equal(await digest(generated(offset)))
    expect(await uploads.discard(upload)).to.equal(true)
    const next = await begin(uploads)
    await uploads.append(next, 0, inChunks(pattern(1000)))
    await expectBytes(uploads, next, pattern(1000))
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
