import { FileServiceError, type ResumableUploads } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import {
  describeResumableUploads,
  type ResumableUploadsSuiteOptions,
} from '../src/describe-resumable-uploads.ts'
import type { BlobStoreHarness } from '../src/support/suite.ts'
import { uploadsOf } from '../src/support/resumable-harness.ts'
import { MiB } from '../src/support/content.ts'
import { harnessOf } from './broken/broken-store.ts'
import { appending } from './broken/resumable/appending.ts'
import { beginning } from './broken/resumable/beginning.ts'
import { expiring } from './broken/resumable/expiring.ts'
import { hanging, interrupted } from './broken/resumable/interrupted.ts'
import { fullStore, publishing } from './broken/resumable/publishing.ts'
import { remembering } from './broken/resumable/remembering.ts'
import { collectTests, failureOf, run } from './collecting-runner.ts'

const brokenStores = [
  ...beginning,
  ...appending,
  ...interrupted,
  ...publishing,
  ...remembering,
  ...expiring,
]

function testsOf(
  open: () => Promise<BlobStoreHarness>,
  options: ResumableUploadsSuiteOptions = {},
) {
  return collectTests((runner) =>
    describeResumableUploads('a store', open, { appendMemory: 544 * MiB, ...options, runner }),
  )
}

describe('describeResumableUploads', () => {
  const sound = testsOf(async () => harnessOf())

  for (const { flaw, test, open } of brokenStores) {
    it(`catches a store that ${flaw}: ${test}`, async () => {
      await run(sound, test)
      expect(await failureOf(testsOf(open), test)).to.be.an.instanceOf(Error)
    })
  }

  it('catches stores that hang', async () => {
    const failures = hanging.map(async ({ flaw, test, open }) => {
      await run(sound, test)
      expect(await failureOf(testsOf(open), test), flaw).to.have.property('name', 'AssertionError')
    })
    await Promise.all(failures)
  })

  it('catches a store that gathers in memory what it appends', async () => {
    const title =
      'big appends > takes 272 MiB in bounded memory, and all but 256 MiB are durable meanwhile'
    const failure = await failureOf(
      testsOf(async () => harnessOf(), { appendMemory: 16 * MiB }),
      title,
    )
    expect(failure).to.have.property('name', 'AssertionError')
  })

  describe('with a store that fails', () => {
    const full = 'full > refuses what does not fit, and keeps what it has reported before'
    const expiry = 'full > lets an upload that did not fit expire soon, unless it goes on'
    const unreachable = 'unreachable > refuses to say what is there, and to change it'

    const testsWith = (isSound: boolean) =>
      testsOf(async () => harnessOf(), {
        openFull: async () => fullStore(isSound),
        openUnreachable: async () => harnessOf(() => ({ resumable: refusing(isSound) })),
      })

    it('passes a store that refuses in the right way', async () => {
      await run(testsWith(true), full)
      await run(testsWith(true), expiry)
      await run(testsWith(true), unreachable)
    })

    it('catches a store that leaves the content open', async () => {
      expect(await failureOf(testsWith(false), full)).to.have.property('name', 'AssertionError')
    })

    it('catches a store that keeps what did not fit', async () => {
      expect(await failureOf(testsWith(false), expiry)).to.have.property('name', 'AssertionError')
    })

    it('catches a store that takes being cut off for absence', async () => {
      const failure = await failureOf(testsWith(false), unreachable)
      expect(failure).to.have.property('name', 'AssertionError')
    })
  })
})

/** Uploads of a store that cannot be reached; if it is not `isSound`, it says that there are none. */
function refusing(isSound: boolean): ResumableUploads {
  const refuse = async (): Promise<never> => {
    throw new FileServiceError('store-unavailable', 'refused')
  }
  const sound = uploadsOf(createMemoryBlobStore())
  async function* refuseToYield(): AsyncIterable<never> {
    await refuse()
  }
  return {
    begin: refuse,
    state: isSound ? refuse : async () => undefined,
    append: refuse,
    interrupt: refuse,
    declareLength: refuse,
    content: refuseToYield,
    publish: refuse,
    remember: (...given) => sound.remember(...given),
    discard: refuse,
    list: refuseToYield,
    sweep: refuse,
  }
}
