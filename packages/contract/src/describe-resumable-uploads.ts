import { appending } from './resumable-uploads/appending.ts'
import { beginning } from './resumable-uploads/beginning.ts'
import { ids } from './resumable-uploads/ids.ts'
import { publishing } from './resumable-uploads/publishing.ts'
import type { BlobStoreHarness } from './support/blob-store-harness.ts'
import { expectTidy } from './support/expectations.ts'
import { longAfter, uploadsOf, type ResumableTest } from './support/resumable-harness.ts'
import type { ResumableHarness } from './support/resumable-harness.ts'
import { globalRunner, type SuiteOptions } from './support/suite-runner.ts'

export interface ResumableUploadsSuiteOptions extends SuiteOptions {
  /**
   * How many appends of one byte one upload gets. Default: 1,000. A store that takes long for each, such as one that has a
   * service keep its data, may take fewer.
   */
  readonly manyAppends?: number
}

/**
 * Declares the tests that `resumable` of every `BlobStore` has to pass that has it; a store without it fails them. `open`
 * makes an empty store, as for `describeBlobStore`. Each test ends by sweeping what has expired, and by looking for
 * litter and for resources still held. Tests that move much data take seconds on a slow medium: allow 60 seconds a test.
 */
export function describeResumableUploads(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: ResumableUploadsSuiteOptions = {},
): void {
  const { runner = globalRunner(), manyAppends = 1000 } = options
  const test: ResumableTest = (fact, body) => runner.it(fact, () => runTest(open, body))

  runner.describe(`${name} as ResumableUploads`, () => {
    runner.describe('beginning', () => beginning(test))
    runner.describe('ids', () => ids(test))
    runner.describe('appending', () => appending(test, manyAppends))
    runner.describe('publishing', () => publishing(test))
  })
}

async function runTest(
  open: () => Promise<BlobStoreHarness>,
  body: (harness: ResumableHarness) => Promise<void>,
): Promise<void> {
  const harness = await open()
  try {
    const uploads = uploadsOf(harness.store)
    await body({ ...harness, uploads })
    await uploads.sweep(longAfter())
    await expectTidy(harness)
  } finally {
    await harness.dispose()
  }
}
