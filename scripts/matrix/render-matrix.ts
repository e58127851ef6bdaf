import type { ContractResult } from './contract-result.ts'
import { markdownTable } from './markdown-table.ts'
import { resultTable, type Outcome } from './result-table.ts'
import type { Store } from './stores.ts'

/**
 * A Markdown table of how many tests of each group each store passes, `passed/total`, aligned as prettier does; a dash
 * where a store leaves the group out.
 */
export function renderMatrix(stores: readonly Store[], results: readonly ContractResult[]): string {
  const columns = stores.map(({ suites }) => resultTable(suites, results))
  const groups = resultTable(
    stores.flatMap(({ suites }) => suites),
    results,
  )
  const rows = groups.map(({ group }) => [
    group,
    ...columns.map((column) => {
      const own = column.find((one) => one.group === group)
      return cell(own?.rows.map(({ outcomes }) => outcomes) ?? [])
    }),
  ])
  return markdownTable([['contract tests', ...stores.map(({ name }) => name)], ...rows])
}

function cell(tests: readonly (readonly Outcome[])[]): string {
  if (tests.length === 0) return '-'
  const passed = tests.filter((outcomes) => !outcomes.includes('failed'))
  return `${passed.length}/${tests.length}`
}
