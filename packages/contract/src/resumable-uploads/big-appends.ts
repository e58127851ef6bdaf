import { expect } from 'chai'
import { expectBlob, expectRefusal } from '../support/expectations.ts'
import { memoryInUse } from '../support/memory-in-use.ts'
import { digest, pattern } from '../support/pattern.ts'
import {
  begin,
  key,
  offsetOf,
  uploadsOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { generated, inChunks, MiB } from '../support/sources.ts'

/** Around the sizes of parts that buckets take, in an order that lets small rests meet whole parts. */
const sizes = [5 * MiB - 1, 1, 5 * MiB, 3, 5 * MiB + 1, 8 * MiB, 70_000]

const bigSize = 272 * MiB
/** What may be lost by a crash. */
const mostAtRisk = 256 * MiB

/** Pieces that are gathered, split and joined on the way, and one that would not fit into memory. */
export function bigAppends(test: ResumableTest, appendMemory: number): void {
  test('keeps pieces of several MiB', async ({ uploads, store }) => {
    const total = sizes.reduce((sum, size) => sum + size, 0)
    const bytes = pattern(total)
    const upload = await begin(uploads, { length: total })
    let offset = 0
    for (const size of sizes) {
      const piece = inChunks(bytes.subarray(offset, offset + size))
      offset = await uploads.append(upload, offset, piece)
      expect(await offsetOf(uploads, upload)).to.equal(offset)
    }
    expect(await digest(uploads.content(upload))).to.deep.equal(await digest([bytes]))
    await uploads.publish(upload)
    await expectBlob(store, key, bytes)
  })

  test('takes 272 MiB in bounded memory, and all but 256 MiB are durable meanwhile', async (harness) => {
    const { uploads, openAgain } = harness
    const upload = await begin(uploads)
    const stalled = Promise.withResolvers<undefined>()
    const before = memoryInUse()
    let most = 0
    async function* content() {
      let taken = 0
      for await (const chunk of generated(bigSize)) {
        if (taken % (16 * MiB) === 0) most = Math.max(most, memoryInUse() - before)
        taken += chunk.length
        yield chunk
      }
      most = Math.max(most, memoryInUse() - before)
      stalled.resolve(undefined)
      await new Promise(() => {})
    }
    const append = uploads.append(upload, 0, content())
    append.catch(() => {})
    await Promise.race([stalled.promise, append])
    const other = uploadsOf(await openAgain())
    expect(await offsetOf(other, upload), 'durable').to.be.at.least(bigSize - mostAtRisk)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    expect(await offsetOf(uploads, upload), 'offset').to.equal(bigSize)
    expect(most, 'bytes of memory').to.be.below(appendMemory)
    await uploads.discard(upload)
  })
}
