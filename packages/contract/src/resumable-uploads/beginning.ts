import { isFileServiceError, type UploadPlan } from '@holdfast/core'
import { expect } from 'chai'
import { expectRefusal } from '../support/expectations.ts'
import { pattern } from '../support/pattern.ts'
import {
  alice,
  begin,
  expectBytes,
  hourMs,
  planOf,
  uploadsOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { inChunks } from '../support/sources.ts'

/** Longest notes; the texts have characters that records, headers and file names may not take. */
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
  'with the longest name': { name: 'é'.repeat(127) },
  'with a name of odd characters': { name: ' a"\\%2F?*🚀ﬁ.tmp ' },
}

/** What was begun is known with its plan, to every opening of the data, as soon as `begin` has resolved. */
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
    })
  })

  test('expires as long after the beginning as the plan says', async ({ uploads }) => {
    const before = Date.now()
    const { expiresAt } = await uploads.begin(alice, planOf())
    // Another machine's clock may be off by a little.
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
