import type { ResumableUploads, UploadKey } from '@holdfast/core'
import { expect } from 'chai'
import { expectRefusal, promptly } from '../support/expectations.ts'
import { digest, pattern } from '../support/pattern.ts'
import {
  alice,
  begin,
  expectBytes,
  listedIds,
  planOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { gated, inChunks, recorded } from '../support/sources.ts'

/** What no store gives as an id, such as the path of something else. */
const oddIds = [
  '',
  '.',
  '..',
  'short',
  '../../../../etc/passwd',
  'a'.repeat(16) + '/../' + 'b'.repeat(16),
  'a'.repeat(65),
  'ab\0cd'.repeat(8),
  '%2e%2e%2f'.repeat(4),
  'é'.repeat(20),
  '__proto__-constructor',
]

/** An id is a secret of its customer's, and finds nothing else. */
export function ids(test: ResumableTest): void {
  test('are made of the characters that paths and addresses take', async ({ uploads }) => {
    const { id } = await begin(uploads)
    expect(id).to.match(/^[A-Za-z0-9_-]{16,64}$/u)
  })

  test('cannot be guessed', async ({ uploads }) => {
    const begun = await Promise.all(Array.from({ length: 64 }, () => begin(uploads)))
    const found = begun.map(({ id }) => id)
    expect(new Set(found).size, 'different ids').to.equal(64)
    // An estimate from below: 64 ids do not have every character of the alphabet at every place.
    expect(randomBits(found), 'random bits').to.be.above(95)
  })

  test('of no upload find nothing', async ({ uploads }) => {
    await begin(uploads)
    await expectAbsent(uploads, { customer: alice, id: 'x'.repeat(32) })
  })

  test('that no store gives find nothing', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    for (const id of oddIds) await expectAbsent(uploads, { customer: alice, id })
    await expectBytes(uploads, upload, pattern(10))
  })

  test("find nothing of another customer's", async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    for (const customer of ['bob', 'alic', 'alice2', 'Alice', '%', 'alice.']) {
      await expectAbsent(uploads, { ...upload, customer })
      expect(await listedIds(uploads, customer)).to.deep.equal([])
    }
    await expectBytes(uploads, upload, pattern(10))
    await uploads.publish(upload)
    await expectAbsent(uploads, { ...upload, customer: 'bob' })
  })

  test("end no append of another customer's", async ({ uploads }) => {
    const upload = await begin(uploads)
    const { content, stalled, release } = gated(pattern(1000), pattern(1000, { offset: 1000 }))
    const append = uploads.append(upload, 0, content)
    append.catch(() => {})
    await promptly(stalled, 'taking the content')
    await promptly(expectAbsent(uploads, { ...upload, customer: 'bob' }), 'the other customer')
    release()
    expect(await append).to.equal(2000)
    await expectBytes(uploads, upload, pattern(2000))
  })

  test('belong to customers with odd names, too', async ({ uploads, store }) => {
    for (const customer of ['%', 'café', 'cafe\u0301', 'a b', 'uploads', 'COM1', '🚀']) {
      const { id } = await uploads.begin(customer, planOf())
      await uploads.append({ customer, id }, 0, inChunks(pattern(10)))
      expect(await listedIds(uploads, customer), customer).to.deep.equal([id])
      await uploads.publish({ customer, id })
      expect(await store.usage(customer), customer).to.deep.equal({ blobs: 1, bytes: 10 })
    }
  })

  test('find nothing once the upload is discarded', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    expect(await uploads.discard(upload)).to.equal(true)
    await expectAbsent(uploads, upload)
  })
}

/** Passes when no method knows of the upload. */
export async function expectAbsent(uploads: ResumableUploads, upload: UploadKey): Promise<void> {
  const what = JSON.stringify(upload.id)
  expect(await uploads.state(upload), `state of ${what}`).to.equal(undefined)
  const content = recorded(inChunks(pattern(10)))
  await expectRefusal(uploads.append(upload, 0, content), 'upload-not-found', `append to ${what}`)
  expect(content.isClosed(), 'content is closed').to.equal(true)
  await expectRefusal(uploads.declareLength(upload, 10), 'upload-not-found', 'declareLength')
  await expectRefusal(digest(uploads.content(upload)), 'upload-not-found', 'content')
  await expectRefusal(uploads.publish(upload), 'upload-not-found', `publish of ${what}`)
  await uploads.interrupt(upload)
  expect(await uploads.discard(upload), `discard of ${what}`).to.equal(false)
}

/** How many bits are needed at least for the characters that occur at each place. */
function randomBits(found: readonly string[]): number {
  const length = Math.min(...found.map((id) => id.length))
  let bits = 0
  for (let at = 0; at < length; at++) bits += Math.log2(new Set(found.map((id) => id[at])).size)
  return bits
}
