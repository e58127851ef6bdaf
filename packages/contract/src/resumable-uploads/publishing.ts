import {
  mostPublished,
  type BlobInfo,
  type ResumableUploads,
  type UploadPlan,
} from '@holdfast/core'
import { expect } from 'chai'
import { digest, pattern, inChunks } from '../support/content.ts'
import {
  expectAbsent,
  expectBlob,
  expectRefusal,
  names,
  expectTidy,
} from '../support/expectations.ts'
import {
  alice,
  begin,
  expectBytes,
  key,
  listedIds,
  planOf,
  uploadsOf,
  type ResumableTest,
  type ResumableHarness,
  longAfter,
} from '../support/resumable-harness.ts'

const old = pattern(1000, { seed: 7 })

/** An upload becomes a blob in one step, the same as one that was put. */
export function publishing(test: ResumableTest): void {
  theBlob(test)
  refusals(test)
  createOnly(test)
}

function theBlob(test: ResumableTest): void {
  test('makes the bytes of all pieces a blob', async ({ uploads, store, openAgain }) => {
    const upload = await begin(uploads, { length: 300_000 })
    await uploads.append(upload, 0, inChunks(pattern(100_000)))
    await uploads.append(upload, 100_000, inChunks(pattern(200_000, { offset: 100_000 })))
    await expectAbsent(store, key)
    const info = await uploads.publish(upload)
    expect(info).to.deep.equal(await store.stat(key))
    await expectBlob(await openAgain(), key, pattern(300_000))
    const range = { first: 99_990, last: 100_009 }
    const blob = await store.open(key, { range })
    const part = pattern(20, { offset: 99_990 })
    expect(await digest(blob?.content ?? [])).to.deep.equal(await digest([part]))
  })

  test('makes an upload without a byte an empty blob', async ({ uploads, store }) => {
    await uploads.publish(await begin(uploads, { length: 0 }))
    await expectBlob(store, key, new Uint8Array())
    await uploads.publish(await begin(uploads, { name: 'other' }))
    await expectBlob(store, { ...key, name: 'other' }, new Uint8Array())
  })

  test('takes what has come where no length is known', async ({ uploads, store }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(1000)))
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(1000))
  })

  test('replaces an earlier blob, whose readers read on', async ({ uploads, store }) => {
    const earlier = await store.put(key, inChunks(old))
    const reading = await store.open(key)
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(2000)))
    await expectBlob(store, key, old)
    const { etag } = await uploads.publish(upload)
    expect(etag).not.to.equal(earlier.etag)
    await expectBlob(store, key, pattern(2000))
    expect(await digest(reading?.content ?? [])).to.deep.equal(await digest([old]))
    expect(await names(store, alice)).to.deep.equal([key.name])
  })

  test('shows the file in the state, which is listed no more', async (harness) => {
    const { uploads, openAgain } = harness
    const upload = await begin(uploads, { length: 10, note: 'n' })
    await uploads.append(upload, 0, inChunks(pattern(10)))
    const published = await uploads.publish(upload)
    for (const each of [uploads, uploadsOf(await openAgain())]) {
      const state = await each.state(upload)
      expect(state?.published).to.deep.equal(published)
      expect(state?.offset).to.equal(10)
      expect(state?.plan).to.deep.equal(planOf({ length: 10, note: 'n' }))
      expect(await listedIds(each, alice)).to.deep.equal([])
    }
  })

  test('takes the names that the policy allows', async ({ uploads, store }) => {
    for (const name of ['é'.repeat(127), 'a:b', 'CON', 'x.tmp', '%2F', '~', 'e\u0301', ' ']) {
      const upload = await begin(uploads, { name })
      await uploads.append(upload, 0, inChunks(pattern(10)))
      expect((await uploads.publish(upload)).name).to.equal(name)
      await expectBlob(store, { ...key, name }, pattern(10))
    }
  })
}

function refusals(test: ResumableTest): void {
  test('refuses before the length is reached, and lets the upload go on', async (harness) => {
    const { uploads, store } = harness
    const upload = await begin(uploads, { length: 20 })
    await expectRefusal(uploads.publish(upload), 'upload-conflict')
    await uploads.append(upload, 0, inChunks(pattern(19)))
    await expectRefusal(uploads.publish(upload), 'upload-conflict')
    await expectAbsent(store, key)
    await expectBytes(uploads, upload, pattern(19))
    await uploads.append(upload, 19, inChunks(pattern(1, { offset: 19 })))
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(20))
  })

  test('publishes no more bytes than the length that was declared meanwhile', async (harness) => {
    const { uploads, store } = harness
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await uploads.declareLength(upload, 10)
    // The caller may have read the plan before. A store may refuse the append.
    const append = uploads.append(upload, 10, inChunks(pattern(5, { offset: 10 })))
    const isLonger = await append.then(
      () => true,
      () => false,
    )
    if (isLonger) {
      await expectRefusal(uploads.publish(upload), 'upload-conflict')
      await expectAbsent(store, key)
    } else {
      await uploads.publish(upload)
      await expectBlob(store, key, pattern(10))
    }
  })

  test('lets nothing be appended afterwards', async ({ uploads, store }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await uploads.publish(upload)
    for (const offset of [0, 10]) {
      const append = uploads.append(upload, offset, inChunks(pattern(10)))
      await expectRefusal(append, 'upload-conflict')
    }
    await expectBlob(store, key, pattern(10))
  })
}

function createOnly(test: ResumableTest): void {
  test('stores under a free name only where that is asked for', async ({ uploads, store }) => {
    const upload = await begin(uploads, { createOnly: true })
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(10))
  })

  test('refuses a taken name, and keeps blob and upload as they were', async (harness) => {
    const { uploads, store } = harness
    const upload = await begin(uploads, { createOnly: true })
    await uploads.append(upload, 0, inChunks(pattern(10)))
    const info = await store.put(key, inChunks(old))
    await expectRefusal(uploads.publish(upload), 'already-exists')
    expect(await store.stat(key)).to.deep.equal(info)
    await expectBytes(uploads, upload, pattern(10))
    await store.delete(key)
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(10))
  })

  test('lets exactly one of five create-only uploads succeed', async (harness) => {
    const { uploads, store, openAgain } = harness
    const other = uploadsOf(await openAgain())
    const begun = await Promise.all(
      Array.from({ length: 5 }, async (_, seed) => {
        const upload = await begin(uploads, { createOnly: true })
        await uploads.append(upload, 0, inChunks(pattern(10, { seed })))
        return upload
      }),
    )
    const outcomes = await Promise.allSettled(
      begun.map((upload, seed) => (seed % 2 ? other : uploads).publish(upload)),
    )
    const winners = [...outcomes.keys()].filter((at) => outcomes[at]?.status === 'fulfilled')
    expect(winners, 'winners').to.have.length(1)
    for (const [seed, upload] of begun.entries()) {
      if (winners.includes(seed)) await expectBlob(store, key, pattern(10, { seed }))
      else await expectRefusal(uploads.publish(upload), 'already-exists')
    }
  })
}

/** The answer to the last request may be lost: a repetition gets the same answer, and changes nothing. */
export function publishingAgain(test: ResumableTest): void {
  for (const createOnly of [false, true]) {
    const what = createOnly ? 'a create-only upload' : 'an upload'
    test(`gives the same answer when ${what} is published again`, async (harness) => {
      const { upload, info } = await published(harness, createOnly)
      expect(await harness.uploads.publish(upload)).to.deep.equal(info)
      const other = uploadsOf(await harness.openAgain())
      expect(await other.publish(upload)).to.deep.equal(info)
      const plan = planOf({ createOnly, length: 1000, link: 'l' })
      expect((await other.state(upload))?.plan).to.deep.equal(plan)
      expect(await harness.store.stat(key)).to.deep.equal(info)
      await expectBlob(harness.store, key, pattern(1000))
    })

    test(`gives the same answer to five that publish ${what} at once`, async (harness) => {
      const { uploads, store, openAgain } = harness
      const upload = await begin(uploads, { createOnly })
      await uploads.append(upload, 0, inChunks(pattern(1000)))
      const other = uploadsOf(await openAgain())
      const all = [uploads, other, uploads, other, uploads]
      const infos = await Promise.all(all.map((each) => each.publish(upload)))
      const stat = await store.stat(key)
      for (const info of infos) expect(info).to.deep.equal(stat)
      await expectBlob(store, key, pattern(1000))
    })

    test(`does not bring ${what} back once its blob is replaced`, async (harness) => {
      const { upload, info } = await published(harness, createOnly)
      const newer = await harness.store.put(key, inChunks(pattern(500, { seed: 2 })))
      expect(await harness.uploads.publish(upload)).to.deep.equal(info)
      expect(await harness.store.stat(key)).to.deep.equal(newer)
      await expectBlob(harness.store, key, pattern(500, { seed: 2 }))
    })

    test(`does not bring ${what} back once its blob is deleted`, async (harness) => {
      const { upload, info } = await published(harness, createOnly)
      await harness.store.delete(key)
      expect(await harness.uploads.publish(upload)).to.deep.equal(info)
      const other = uploadsOf(await harness.openAgain())
      expect(await other.publish(upload)).to.deep.equal(info)
      await expectAbsent(harness.store, key)
    })
  }

  test('does not replace the blob of a later upload', async (harness) => {
    const { upload, info } = await published(harness)
    const later = await begin(harness.uploads)
    await harness.uploads.append(later, 0, inChunks(pattern(500, { seed: 2 })))
    const newer = await harness.uploads.publish(later)
    expect(await harness.uploads.publish(upload)).to.deep.equal(info)
    expect(await harness.uploads.publish(later)).to.deep.equal(newer)
    await expectBlob(harness.store, key, pattern(500, { seed: 2 }))
  })

  test('keeps the blob when the published upload is discarded', async (harness) => {
    const { upload, info } = await published(harness)
    expect(await harness.uploads.discard(upload)).to.equal(true)
    expect(await harness.uploads.state(upload)).to.equal(undefined)
    expect(await harness.store.stat(key)).to.deep.equal(info)
    await expectBlob(harness.store, key, pattern(1000))
  })
}

async function published({ uploads }: ResumableHarness, createOnly = false) {
  const upload = await begin(uploads, { createOnly, length: 1000, link: 'l' })
  await uploads.append(upload, 0, inChunks(pattern(1000)))
  return { upload, info: await uploads.publish(upload) }
}

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
