import {
  type BlobStoreHarness,
  globalRunner,
  type SuiteOptions,
  withHarness,
} from './support/suite.ts'
import { collect, expectRefusal, expectTidy } from './support/expectations.ts'
import { historyOf, key, type HistoryTest } from './history/history-harness.ts'
import { deletedNames, keeping, versionsOfOne } from './history/keeping.ts'
import { atOnce, purging, restoring } from './history/changing.ts'

export interface HistorySuiteOptions extends SuiteOptions {
  /** Opens a store whose medium cannot be reached, to test that it takes nothing for purged. */
  readonly openUnreachable?: () => Promise<BlobStoreHarness>
  /** How many versions of one name the suite makes, to test pages; at least 20. Default: 1,100. */
  readonly manyVersions?: number
  /** How far the clock of the store may differ from that of the tests, in milliseconds. Default: 2,000. */
  readonly clockToleranceMs?: number
}

/**
 * Declares the tests that `history` of a `BlobStore` must pass; a store without it fails them. `open` makes an empty store, as for
 * `describeBlobStore`.
 */
export function describeHistory(
  name: string,
  open: () => Promise<BlobStoreHarness>,
  options: HistorySuiteOptions = {},
): void {
  const { runner = globalRunner(), openUnreachable } = options
  const { manyVersions = 1_100, clockToleranceMs = 2_000 } = options
  const testOn =
    (openOne: () => Promise<BlobStoreHarness>): HistoryTest =>
    (fact, body) =>
      runner.it(fact, () =>
        withHarness(openOne, async (harness) => {
          await body({ ...harness, history: historyOf(harness.store) })
          await expectTidy(harness)
        }),
      )
  const test = testOn(open)

  runner.describe(`${name} as History`, () => {
    runner.describe('what is kept', () => keeping(test, clockToleranceMs))
    runner.describe('versions of a name', () => versionsOfOne(test, manyVersions))
    runner.describe('deleted names', () => deletedNames(test))
    runner.describe('restoring', () => restoring(test))
    runner.describe('purging', () => purging(test, clockToleranceMs))
    runner.describe('at once', () => atOnce(test))
    if (openUnreachable) {
      runner.describe('unreachable', () => {
        testOn(openUnreachable)('rejects with store-unavailable', async ({ history }) => {
          const kept = { ...key, version: 'a' }
          await expectRefusal(collect(history.versions(key)), 'store-unavailable')
          await expectRefusal(collect(history.deleted('alice')), 'store-unavailable')
          await expectRefusal(collect(history.kept('alice')), 'store-unavailable')
          await expectRefusal(history.open(kept), 'store-unavailable')
          await expectRefusal(history.restore(kept, 'a'), 'store-unavailable')
          await expectRefusal(history.purge('alice', new Date()), 'store-unavailable')
        })
      })
    }
  })
}
