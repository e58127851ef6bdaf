import {
  isFileServiceError,
  type UploadPlan,
  type ResumableUploads,
  type UploadKey,
} from '@holdfast/core'
import { expect } from 'chai'
import { expectRefusal, promptly } from '../support/expectations.ts'
import { pattern, digest, inChunks, gated, recorded } from '../support/content.ts'
import {
  alice,
  begin,
  expectBytes,
  hourMs,
  planOf,
  uploadsOf,
  type ResumableTest,
  listedIds,
} from '../support/resumable-harness.ts'

/** Notes of the greatest length, and with characters that records, headers and file names may not allow. */
const notes = {
  'of one line': 'filename d29ybGQ=,is_confidential',
  'of every kind of character': 'quotes " \' \\, lines \r\n\t, NUL \0, {"json": "%7D"}, é, 🚀',
  'of 4,096 bytes': '€'.repeat(1365) + 'e',
  'that is empty': '',
}

const plans: Readonly<Record<string, Partial<UploadPlan>>> = {
  'with a name only': {},
  'with a length': { length: 5 },
  'with a length of no bytes': { length: 0 },
  'that is create-only': { createOnly: true },
  'that is not create-only': { createOnly: false },
  'with a digest': { sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  'of a further login': { login: 'ci "é' },
  'with the longest name': { name: 'é'.repeat(127) },
  'with a name of odd characters': { name: ' a"\\%2F?*🚀ﬁ.tmp ' },
}

/** As soon as `begin` has resolved, every instance of the store knows the upload with its plan. */
export function beginning(test: ResumableTest): void {
  for (const [what, more] of Object.entries(plans)) {
    test(`gives back a plan ${what}`, ({ uploads }) => expectKept(uploads, planOf(more)))
  }
  for (const [what, note] of Object.entries(notes)) {
    test(`gives back a note ${what}`, ({ uploads }) => expectKept(uploads, planOf({ note })))
  }

  test('gives back a plan with the longest length there is, or has no room for it', async ({
    uploads,
  }) => {
    const longest = expectKept(uploads, planOf({ length: Number.MAX_SAFE_INTEGER }))
    await longest.catch((error: unknown) => {
      if (!isFileServiceError(error, 'insufficient-storage')) throw error
      // Nothing was written, so it is no error of the disk.
      expect(error.cause).to.equal(undefined)
    })
  })

  test('expires as long after the beginning as the plan says', async ({ uploads }) => {
    const before = Date.now()
    const { expiresAt } = await uploads.begin(alice, planOf())
    // The clock of another machine may differ a little.
    expect(expiresAt.getTime() - before).to.be.within(0.9 * hourMs, 1.1 * hourMs)
  })

  test('shows another opening what was begun', async ({ uploads, openAgain }) => {
    const earlier = uploadsOf(await openAgain())
    const plan = planOf({ length: 9, note: 'n', link: 'l.\n"é' })
    const begun = await uploads.begin(alice, plan)
    expect(begun.plan).to.deep.equal(plan)
    for (const other of [earlier, uploadsOf(await openAgain())]) {
      expect(await other.state({ customer: alice, id: begun.id })).to.deep.equal(begun)
    }
  })

  test('takes a length later', async ({ uploads, openAgain }) => {
    const upload = await begin(uploads, { link: 'l' })
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await uploads.declareLength(upload, 20)
    const other = uploadsOf(await openAgain())
    expect((await other.state(upload))?.plan).to.deep.equal(planOf({ length: 20, link: 'l' }))
    await expectBytes(uploads, upload, pattern(10))
  })

  test('takes the same length again, and no other one', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.declareLength(upload, 20)
    await uploads.declareLength(upload, 20)
    for (const length of [0, 19, 21]) {
      await expectRefusal(uploads.declareLength(upload, length), 'upload-conflict')
    }
    expect((await uploads.state(upload))?.plan.length).to.equal(20)
    const published = await begin(uploads)
    await uploads.append(published, 0, inChunks(pattern(10)))
    await uploads.publish(published)
    await uploads.declareLength(published, 10)
    for (const length of [9, 11]) {
      await expectRefusal(uploads.declareLength(published, length), 'upload-conflict')
    }
  })

  test('takes no other length than that of the plan', async ({ uploads }) => {
    const upload = await begin(uploads, { length: 20 })
    await uploads.declareLength(upload, 20)
    await expectRefusal(uploads.declareLength(upload, 21), 'upload-conflict')
    expect((await uploads.state(upload))?.plan.length).to.equal(20)
  })

  test('takes no length below the bytes that it has', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await expectRefusal(uploads.declareLength(upload, 9), 'upload-conflict')
    expect((await uploads.state(upload))?.plan).to.deep.equal(planOf())
    await uploads.declareLength(upload, 10)
  })
}

async function expectKept(uploads: ReturnType<typeof uploadsOf>, plan: UploadPlan): Promise<void> {
  const begun = await uploads.begin(alice, plan)
  expect(begun.plan, 'plan').to.deep.equal(plan)
  expect(begun.offset, 'offset').to.equal(0)
  expect(begun.published, 'published').to.equal(undefined)
  expect(await uploads.state({ customer: alice, id: begun.id }), 'state').to.deep.equal(begun)
}

/** Texts that no store returns as an id, such as the path of something else. */
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

/** Only its customer can know an id, and it finds only its upload. */
export function ids(test: ResumableTest): void {
  test('are made of the characters that paths and addresses take', async ({ uploads }) => {
    const { id } = await begin(uploads)
    expect(id).to.match(/^[A-Za-z0-9_-]{16,64}$/u)
  })

  test('cannot be guessed', async ({ uploads }) => {
    const begun = await Promise.all(Array.from({ length: 64 }, () => begin(uploads)))
    const found = begun.map(({ id }) => id)
    expect(new Set(found).size, 'different ids').to.equal(64)
    // A lower estimate: 64 ids do not have every character of the alphabet at every position.
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

/** Passes if no method finds the upload. */
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

/** The fewest bits that can encode the characters that occur at each position. */
function randomBits(found: readonly string[]): number {
  const length = Math.min(...found.map((id) => id.length))
  let bits = 0
  for (let at = 0; at < length; at++) bits += Math.log2(new Set(found.map((id) => id[at])).size)
  return bits
}
