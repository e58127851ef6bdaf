import type { Hook, Runner, Test } from 'mocha'
import type { ContractResult } from './contract-result.ts'
import { wrappers } from './stores.ts'

const ending = ' as a BlobStore'

/**
 * The results of all tests that `describeBlobStore` declares, in the order in which they end; filled while `runner`
 * runs. A test that is skipped, or that a hook kept from running, has no result; nor has one of the `wrappers`.
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
  const at = titles.findIndex((title) => title.endsWith(ending))
  const [title, group, ...test] = at < 0 ? [] : titles.slice(at)
  if (title === undefined || group === undefined) return undefined
  const suite = title.slice(0, -ending.length)
  return wrappers.includes(suite) ? undefined : { suite, group, test: test.join(' > '), passed }
}
