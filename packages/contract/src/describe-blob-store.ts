import { absence, naming, customers, isolation, usage } from './blob-store/names.ts'
import { chunksOfBytes, streaming } from './blob-store/streaming.ts'
import { createOnly, overwriting, sharing } from './blob-store/overwriting.ts'
import { fullStore, unreachableStore, interruptedWrites } from './blob-store/interrupted-writes.ts'
import { listing } from './blob-store/listing.ts'
import { ranges, roundTrip } from './blob-store/reading.ts'
import {
  type BlobStoreHarness,
  type BlobStoreTest,
  globalRunner,
  type SuiteOptions,
  withHarness,
} from './support/suite.ts'
import { expectTidy } from './support/expectations.ts'
import { MiB } from './support/content.ts'

export interface BlobStoreSuiteOptions extends SuiteOptions {
  /**
   * The most bytes by which the memory in use may grow while a blob of 64 MiB is put. Default: 16 MiB. Set it for a store that keeps its
   * blobs in memory, or must collect large parts before it can send them.
   */
  readonly putMemory?: number
  /** Opens a store with room for at least 1 MiB and less than 64 MiB, to test that it refuses content that does not fit. */
  readonly openFull?: () => Promise<BlobStoreHarness>
  /** Opens a store whose medium cannot be reached, to test that it never reports that as absence. */
  readonly openUnreachable?: () => Promise<BlobStoreHarness>
}

/**
 * Declares the tests that every `BlobStore` must pass. `open` makes an empty store. Each test opens one, and at the end checks for
 * left-over data and for resources still held, and disposes of it. Tests that transfer much data take seconds on a slow medium: allow 60
 * seconds a test.
 */
export function describeBlobStore(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: BlobStoreSuiteOptions = {},
): void {
  const { runner = globalRunner(), putMemory = 16 * MiB, openFull, openUnreachable } = options
  const testOn =
    (openOne: () => Promise<BlobStoreHarness>): BlobStoreTest =>
    (fact, body) =>
      runner.it(fact, () =>
        withHarness(openOne, async (harness) => {
          await body(harness)
          await expectTidy(harness)
        }),
      )
  const test = testOn(open)

  runner.describe(`${name} as a BlobStore`, () => {
    runner.describe('round trip', () => roundTrip(test))
    runner.describe('chunks of bytes', () => chunksOfBytes(test))
    runner.describe('naming', () => naming(test))
    runner.describe('overwriting', () => overwriting(test))
    runner.describe('interrupted writes', () => interruptedWrites(test))
    runner.describe('create-only', () => createOnly(test))
    runner.describe('ranges', () => ranges(test))
    runner.describe('absence', () => absence(test))
    runner.describe('listing', () => listing(test))
    runner.describe('usage', () => usage(test))
    runner.describe('customers', () => customers(test))
    runner.describe('isolation', () => isolation(test))
    runner.describe('sharing', () => sharing(test))
    runner.describe('streaming', () => streaming(test, putMemory))
    if (openFull) runner.describe('full', () => fullStore(testOn(openFull)))
    if (openUnreachable) {
      runner.describe('unreachable', () => unreachableStore(testOn(openUnreachable)))
    }
  })
}
