import { expect } from 'chai'
import { expectAbsent, expectBlob } from '../support/expectations.ts'
import { pattern } from '../support/pattern.ts'
import {
  begin,
  key,
  planOf,
  uploadsOf,
  type ResumableHarness,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { inChunks } from '../support/sources.ts'

/** The answer to the last request may be lost: asking again gives it again, and changes nothing. */
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
