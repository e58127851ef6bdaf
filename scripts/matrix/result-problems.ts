import type { ContractResult } from './contract-result.ts'
import { resultTable, type GroupRows } from './result-table.ts'
import type { Store, Suite } from './stores.ts'

/**
 * Says why `results` cannot be published as those of `suites`, one sentence a problem, none when all is well: a suite
 * that did not run or is not known, a group that is left out everywhere, tests that a suite lacks without a reason, and
 * reasons that no longer hold.
 */
export function resultProblems(
  suites: readonly Suite[],
  results: readonly ContractResult[],
): string[] {
  const table = resultTable(suites, results)
  return [
    ...unknownSuites(suites, results),
    ...groupsNobodyRan(suites, table),
    ...suites.flatMap((suite, column) =>
      results.some((result) => result.suite === suite.name)
        ? table.flatMap((group) => groupProblems(suite, column, group))
        : [`there is no result of the suite "${suite.name}": it did not run`],
    ),
  ]
}

/** Whether `results` can be published as those of `stores`. */
export function hasResultsOf(
  stores: readonly Store[],
  results: readonly ContractResult[],
): boolean {
  const suites = stores.flatMap((store) => store.suites)
  return resultProblems(suites, results).length === 0
}

function unknownSuites(suites: readonly Suite[], results: readonly ContractResult[]): string[] {
  const known = suites.map(({ name }) => name)
  const unknown = new Set(results.map(({ suite }) => suite).filter((name) => !known.includes(name)))
  return [...unknown].map((name) => `the suite "${name}" has no line in scripts/matrix/stores.ts`)
}

function groupsNobodyRan(suites: readonly Suite[], table: readonly GroupRows[]): string[] {
  const leftOut = new Set(suites.flatMap(({ without }) => Object.keys(without)))
  const nowhere = [...leftOut].filter((name) => !table.some(({ group }) => group === name))
  return nowhere.map((name) => `no store ran the group "${name}"`)
}

function groupProblems(suite: Suite, column: number, { group, rows }: GroupRows): string[] {
  const missing = rows.filter(({ outcomes }) => outcomes[column] === 'absent')
  const isExcused = suite.without[group] !== undefined
  if (isExcused && missing.length < rows.length) {
    return [`scripts/matrix/stores.ts says "${suite.name}" leaves out ${group}, but it does not`]
  }
  if (isExcused) return []
  return missing.map(({ test }) => `"${suite.name}" has no result of "${group} > ${test}"`)
}
