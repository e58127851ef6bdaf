import { expect } from 'chai'
import { expectBlob, expectRefusal, rejection } from '../support/expectations.ts'
import { pattern } from '../support/pattern.ts'
import { begin, expectBytes, key, type ResumableTest } from '../support/resumable-harness.ts'
import { failing, inChunks, MiB } from '../support/sources.ts'
import { stalledAppend } from './interrupted-appends.ts'

const before = 100_000

/** Bytes of the append in question: some, and more than a store may gather before it sends. */
const sizes = [1, 300_000, 11 * MiB]

/** All bytes of such an append count, or none. */
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
