import { isFileServiceError, type ResumableUploads, type UploadKey } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import { collect, expectBlob, expectRefusal, promptly } from '../support/expectations.ts'
import { pattern } from '../support/pattern.ts'
import {
  begin,
  expectBytes,
  key,
  offsetOf,
  uploadsOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { gated, inChunks, slow } from '../support/sources.ts'
import { stalledAppend } from './interrupted-appends.ts'

/** Of several appends to one upload one goes on, and bytes of two never mix. */
export function appendsAtOnce(test: ResumableTest): void {
  test('lets a later append end a stalled one', async ({ uploads, store }) => {
    const upload = await begin(uploads)
    const earlier = await stalledAppend(uploads, upload, 1000)
    const more = inChunks(pattern(1000, { offset: 1000 }))
    expect(await promptly(uploads.append(upload, 1000, more), 'the later one')).to.equal(2000)
    await expectRefusal(earlier.append, 'upload-conflict', 'the earlier append')
    expect(earlier.source.isClosed(), 'the earlier content is closed').to.equal(true)
    await uploads.publish(upload)
    await expectBlob(store, key, pattern(2000))
  })

  test('lets a later append end a stalled one, and then compares its offset', async (harness) => {
    const { uploads } = harness
    const upload = await begin(uploads)
    const earlier = await stalledAppend(uploads, upload, 1000)
    const later = uploads.append(upload, 0, inChunks(pattern(500, { seed: 2 })))
    await expectRefusal(later, 'upload-conflict', 'the later append')
    await expectRefusal(earlier.append, 'upload-conflict', 'the earlier append')
    await expectBytes(uploads, upload, pattern(1000))
  })

  test('takes nothing more of an append that has been ended', async ({ uploads }) => {
    const upload = await begin(uploads)
    const late = pattern(1000, { offset: 1000, seed: 3 })
    const { content, stalled, release } = gated(pattern(1000), late)
    const earlier = uploads.append(upload, 0, content)
    await promptly(stalled, 'taking the content')
    const later = uploads.append(upload, 1000, slow(pattern(1000, { offset: 1000 }), 100))
    release()
    await Promise.all([expectRefusal(earlier, 'upload-conflict'), later])
    await expectBytes(uploads, upload, pattern(2000))
  })

  test('mixes no bytes of ten appends at once', async ({ uploads }) => {
    const all = Array.from({ length: 10 }, () => uploads)
    await expectUnmixed(all, await begin(uploads))
  })

  test('mixes no bytes of ten appends at once through two openings', async (harness) => {
    const { uploads, openAgain } = harness
    const other = uploadsOf(await openAgain())
    const all = Array.from({ length: 10 }, (_, at) => (at % 2 ? uploads : other))
    await expectUnmixed(all, await begin(uploads))
  })

  test('mixes no bytes with those of a stalled append of another opening', async (harness) => {
    const { uploads, openAgain } = harness
    const upload = await begin(uploads)
    const { content, stalled, release } = gated(bytesOf(1, 1000), bytesOf(1, 1000))
    const first = uploads.append(upload, 0, content)
    await promptly(stalled, 'taking the content')
    const other = uploadsOf(await openAgain())
    const second = other.append(upload, 0, inChunks(bytesOf(2, 1500)))
    // It may be refused, or go on in place of the first one, which must then fail; its failure is looked at below.
    first.catch(() => {})
    await second.catch(() => {})
    release()
    const outcomes = await Promise.allSettled([first, second])
    await expectOneWriter(other, upload, outcomes)
  })
}

/** Passes when appends of different bytes at offset 0, one through each of `all` at once, are not mixed. */
async function expectUnmixed(all: readonly ResumableUploads[], upload: UploadKey): Promise<void> {
  const outcomes = await Promise.allSettled(
    all.map((uploads, at) => uploads.append(upload, 0, slow(bytesOf(at + 1, 5000 + at), 1000))),
  )
  for (const uploads of new Set(all)) await expectOneWriter(uploads, upload, outcomes)
}

/** Bytes of which each one says which writer it comes from. */
function bytesOf(writer: number, size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).fill(writer)
}

/** Passes when all bytes are one writer's, and one that resolved is that one, whole. */
async function expectOneWriter(
  uploads: ResumableUploads,
  upload: UploadKey,
  outcomes: readonly PromiseSettledResult<number>[],
): Promise<void> {
  const bytes = Buffer.concat(await collect(uploads.content(upload)))
  expect(bytes.length, 'bytes and offset').to.equal(await offsetOf(uploads, upload))
  expect(new Set(bytes).size, 'writers of the bytes').to.be.at.most(1)
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') {
      expect(bytes[0], 'the writer that was acknowledged').to.equal(at + 1)
      expect(bytes.length, 'its bytes').to.equal(outcome.value)
    } else if (!isFileServiceError(outcome.reason, 'upload-conflict')) {
      throw new AssertionError(`rejected with ${String(outcome.reason)}`)
    }
  }
}
