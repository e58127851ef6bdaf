import {
  mostPublished,
  type BlobInfo,
  type ResumableUploads,
  type UploadPlan,
} from '@holdfast/core'
import { expect } from 'chai'
import { expectBlob, expectRefusal, expectTidy } from '../support/expectations.ts'
import { pattern } from '../support/pattern.ts'
import {
  alice,
  key,
  listedIds,
  longAfter,
  planOf,
  uploadsOf,
  type ResumableHarness,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { inChunks } from '../support/sources.ts'

/** A blob that arrived whole is remembered as a published upload. */
export function remembering(test: ResumableTest): void {
  for (const [what, more] of Object.entries({
    'an upload': { length: 1000, note: 'filename d29ybGQ=', link: 'l' },
    'a create-only upload': { length: 1000, createOnly: true },
  })) {
    test(`shows ${what}, its plan and its file to another opening`, async (harness) => {
      const { uploads, openAgain } = harness
      const { remembered, info } = await remember(harness, more)
      expect(remembered).to.deep.include({ plan: planOf(more), offset: 1000, published: info })
      const upload = { customer: alice, id: remembered.id }
      for (const each of [uploads, uploadsOf(await openAgain())]) {
        expect(await each.state(upload)).to.deep.equal(remembered)
        expect(await each.publish(upload)).to.deep.equal(info)
      }
      expect(await listedIds(uploads, alice), 'unfinished').to.deep.equal([])
    })
  }

  test('gives each an id of its own', async (harness) => {
    const { uploads } = harness
    const { remembered, info } = await remember(harness)
    const again = await uploads.remember(alice, planOf(), info)
    expect(again.id).to.not.equal(remembered.id)
    const bob = { customer: 'bob', id: again.id }
    expect(await uploads.state(bob)).to.equal(undefined)
  })

  test('does not bring the blob back once it is replaced', async (harness) => {
    const { upload, info } = await remember(harness)
    const newer = await harness.store.put(key, inChunks(pattern(500, { seed: 2 })))
    expect(await harness.uploads.publish(upload)).to.deep.equal(info)
    expect(await harness.store.stat(key)).to.deep.equal(newer)
  })

  test('lets nothing be appended', async (harness) => {
    const { uploads, store } = harness
    const { upload } = await remember(harness)
    await uploads.interrupt(upload)
    const append = uploads.append(upload, 1000, inChunks(pattern(1)))
    await expectRefusal(append, 'upload-conflict')
    await expectBlob(store, key, pattern(1000))
  })

  test('keeps the blob when the upload is discarded', async (harness) => {
    const { uploads, store } = harness
    const { upload } = await remember(harness)
    expect(await uploads.discard(upload)).to.equal(true)
    expect(await uploads.state(upload)).to.equal(undefined)
    await expectBlob(store, key, pattern(1000))
  })

  test('keeps the blob when the upload has expired, and does not count it', async (harness) => {
    const { uploads, store } = harness
    const { upload } = await remember(harness)
    expect(await uploads.sweep(new Date()), 'removed now').to.equal(0)
    expect(await uploads.state(upload)).to.have.property('published')
    expect(await uploads.sweep(longAfter()), 'removed').to.equal(0)
    expect(await uploads.state(upload)).to.equal(undefined)
    await expectTidy(harness)
    await expectBlob(store, key, pattern(1000))
  })

  test('forgets the oldest of a link if there are too many, and none of the customer', async (harness) => {
    const { uploads } = harness
    const { remembered, info } = await remember(harness)
    const byLink = planOf({ link: 'l' })
    const first = await uploads.remember(alice, byLink, info)
    const other = await uploads.remember(alice, planOf({ link: 'm' }), info)
    const later = await rememberMany(uploads, mostPublished.byLink, [byLink, info])
    const known = async (id: string) =>
      (await uploads.state({ customer: alice, id }))?.published !== undefined
    expect(await known(first.id), 'the oldest').to.equal(false)
    for (const id of [remembered.id, other.id, ...later]) expect(await known(id)).to.equal(true)
  })

  test('forgets in a sweep what several openings have too many of', async (harness) => {
    const { uploads, store, openAgain } = harness
    const info = await store.put(key, inChunks(pattern(1000)))
    const another = uploadsOf(await openAgain())
    const each = 0.6 * mostPublished.byLink
    const plan = planOf({ link: 'l' })
    const older = await rememberMany(uploads, each, [plan, info])
    const newer = await rememberMany(another, each, [plan, info])
    expect(await uploads.sweep(new Date()), 'unfinished ones removed').to.equal(0)
    const isKnown = async (id: string) =>
      (await uploads.state({ customer: alice, id })) !== undefined
    const known = async (ids: readonly string[]) =>
      (await Promise.all(ids.map(isKnown))).filter(Boolean).length
    expect(await known(newer)).to.equal(each)
    expect(await known(older)).to.equal(mostPublished.byLink - each)
  })
}

async function rememberMany(
  uploads: ResumableUploads,
  count: number,
  remembered: readonly [UploadPlan, BlobInfo],
): Promise<readonly string[]> {
  const all = Array.from({ length: count }, () => uploads.remember(alice, ...remembered))
  return (await Promise.all(all)).map(({ id }) => id)
}

async function remember({ uploads, store }: ResumableHarness, more: Partial<UploadPlan> = {}) {
  const info = await store.put(key, inChunks(pattern(1000)))
  const remembered = await uploads.remember(alice, planOf(more), info)
  return { remembered, info, upload: { customer: alice, id: remembered.id } }
}
