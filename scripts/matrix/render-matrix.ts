import type { ContractResult } from './contract-result.ts'
import { markdownTable } from './markdown-table.ts'
import { resultTable } from './result-table.ts'
import type { Store } from './stores.ts'

/**
 * A Markdown table with a line for each store: how many tests of the suite it passes, `passed/total`, and the groups of tests
 * that it leaves out. Aligned as the formatter does.
 */
export function renderMatrix(stores: readonly Store[], results: readonly ContractResult[]): string {
  const all = resultTable(
    stores.flatMap(({ suites }) => suites),
    results,
  )
  const rows = stores.map(({ name, suites }) => {
    const own = resultTable(suites, results)
    const tests = own.flatMap(({ rows }) => rows)
    const passed = tests.filter(({ outcomes }) => !outcomes.includes('failed'))
    const leftOut = all.filter(({ group }) => !own.some((one) => one.group === group))
    return [
      name,
      `${passed.length}/${tests.length}`,
      leftOut.map(({ group }) => group).join(', ') || '-',
    ]
  })
  return markdownTable([['store', 'tests passed', 'groups not run'], ...rows])
}
