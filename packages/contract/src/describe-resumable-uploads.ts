import {
  allOrNothing,
  fullForUploads,
  unreachableForUploads,
  interruptedAppends,
} from './resumable-uploads/failures.ts'
import { apartFromBlobs } from './resumable-uploads/apart-from-blobs.ts'
import { appending, bigAppends, appendsAtOnce } from './resumable-uploads/appending.ts'
import { beginning, ids } from './resumable-uploads/beginning.ts'
import { expiring } from './resumable-uploads/expiring.ts'
import { publishing, publishingAgain, remembering } from './resumable-uploads/publishing.ts'
import {
  type BlobStoreHarness,
  globalRunner,
  type SuiteOptions,
  withHarness,
} from './support/suite.ts'
import { expectTidy } from './support/expectations.ts'
import { longAfter, uploadsOf, type ResumableTest } from './support/resumable-harness.ts'
import { MiB } from './support/content.ts'

export interface ResumableUploadsSuiteOptions extends SuiteOptions {
  /**
   * How many appends of one byte an upload gets. Default: 1,000. Set fewer for a store where each takes long, such as one that uses a
   * service.
   */
  readonly manyAppends?: number
  /**
   * The most bytes by which the memory in use may grow while 272 MiB are appended. Default: 16 MiB. Set it for a store that keeps its
   * uploads in memory, or must collect large parts before it can send them.
   */
  readonly appendMemory?: number
  /** Opens a store with room for at least 1 MiB and less than 64 MiB, to test that it refuses content that does not fit. */
  readonly openFull?: () => Promise<BlobStoreHarness>
  /** Opens a store whose medium cannot be reached, to test that it never reports that as absence. */
  readonly openUnreachable?: () => Promise<BlobStoreHarness>
}

/**
 * Declares the tests that `resumable` of a `BlobStore` must pass; a store without it fails them. `open` makes an empty store, as for
 * `describeBlobStore`. At its end each test sweeps expired uploads, and checks for left-over data and for resources still held. Tests that
 * transfer much data take seconds on a slow medium: allow 60 seconds a test.
 */
export function describeResumableUploads(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: ResumableUploadsSuiteOptions = {},
): void {
  const { runner = globalRunner(), manyAppends = 1000, appendMemory = 16 * MiB } = options
  const { openFull, openUnreachable } = options
  const testOn =
    (openOne: () => Promise<BlobStoreHarness>, isReachable = true): ResumableTest =>
    (fact, body) =>
      runner.it(fact, () =>
        withHarness(openOne, async (harness) => {
          const uploads = uploadsOf(harness.store)
          await body({ ...harness, uploads })
          if (isReachable) await uploads.sweep(longAfter())
          await expectTidy(harness)
        }),
      )
  const test = testOn(open)

  runner.describe(`${name} as ResumableUploads`, () => {
    runner.describe('beginning', () => beginning(test))
    runner.describe('ids', () => ids(test))
    runner.describe('appending', () => appending(test, manyAppends))
    runner.describe('big appends', () => bigAppends(test, appendMemory))
    runner.describe('interrupted appends', () => interruptedAppends(test))
    runner.describe('all or nothing', () => allOrNothing(test))
    runner.describe('appends at once', () => appendsAtOnce(test))
    runner.describe('publishing', () => publishing(test))
    runner.describe('publishing again', () => publishingAgain(test))
    runner.describe('remembering', () => remembering(test))
    runner.describe('apart from blobs', () => apartFromBlobs(test))
    runner.describe('expiring', () => expiring(test))
    if (openFull) runner.describe('full', () => fullForUploads(testOn(openFull)))
    if (openUnreachable) {
      runner.describe('unreachable', () => unreachableForUploads(testOn(openUnreachable, false)))
    }
  })
}
