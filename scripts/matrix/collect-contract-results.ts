import type { Hook, Runner, Test } from 'mocha'
import type { ContractResult } from './contract-result.ts'
import { wrappers } from './stores.ts'
import { expiryGroup, historyGroup, linksGroup, renamingGroup, uploadGroup } from './group-names.ts'

/** The suites that have results: what follows the store's name in the title, and what a group is called in the results. */
const kinds = [
  { ending: ' as a BlobStore', groupOf: (group: string) => group },
  { ending: ' renaming', groupOf: renamingGroup },
  { ending: ' as LinkGenerations', groupOf: linksGroup },
  { ending: ' as Expiry', groupOf: expiryGroup },
  { ending: ' as History', groupOf: historyGroup },
  { ending: ' as ResumableUploads', groupOf: uploadGroup },
] as const

/**
 * The results of all tests that the suites of stores declare, in the order in which they end; filled while `runner` runs. A test that is skipped, or that a hook kept from running, has no result; nor has one
 * of the `wrappers`.
 */
export function collectContractResults(runner: Runner): readonly ContractResult[] {
  const results: ContractResult[] = []
  const note = (test: Test | Hook, passed: boolean) => {
    // A hook that fails is reported like a test.
    if (test.type !== 'test') return
    const result = resultOf(test.titlePath(), passed)
    if (result) results.push(result)
  }
  runner.on('pass', (test) => note(test, true))
  runner.on('fail', (test) => note(test, false))
  return results
}

function resultOf(titles: readonly string[], passed: boolean): ContractResult | undefined {
  for (const [at, title] of titles.entries()) {
    const kind = kinds.find(({ ending }) => title.endsWith(ending))
    if (kind) return resultIn(kind, titles.slice(at), passed)
  }
  return undefined
}

function resultIn(
  { ending, groupOf }: (typeof kinds)[number],
  [title = '', group, ...test]: readonly string[],
  passed: boolean,
): ContractResult | undefined {
  const suite = title.slice(0, -ending.length)
  if (group === undefined || wrappers.includes(suite)) return undefined
  return { suite, group: groupOf(group), test: test.join(' > '), passed }
}
