import type { ContractResult } from './contract-result.ts'
import type { Suite } from './stores.ts'

/** How a test ended on one suite; `absent` when the suite does not have it. */
export type Outcome = 'passed' | 'failed' | 'absent'

/** One test, with an outcome for each suite in the order of the suites. */
export interface TestRow {
  readonly test: string
  readonly outcomes: readonly Outcome[]
}

/** The tests of a group in the order in which they ran. */
export interface GroupRows {
  readonly group: string
  readonly rows: readonly TestRow[]
}

/**
 * Puts `results` side by side, a column for each of `suites`; results of other suites are left out. A group that earlier
 * suites leave out follows the group that it follows in its own suite.
 */
export function resultTable(
  suites: readonly Suite[],
  results: readonly ContractResult[],
): GroupRows[] {
  const ofSuites = suites.map(({ name }) => results.filter(({ suite }) => suite === name))
  const all = ofSuites.flat()
  return groupsOf(ofSuites).map((group) => {
    const tests = distinct(all.filter((one) => one.group === group).map(({ test }) => test))
    const rows = tests.map((test) => ({
      test,
      outcomes: ofSuites.map((found) => outcomeOf(found, group, test)),
    }))
    return { group, rows }
  })
}

function groupsOf(ofSuites: readonly (readonly ContractResult[])[]): string[] {
  const groups: string[] = []
  for (const results of ofSuites) {
    let next = 0
    for (const group of distinct(results.map((result) => result.group))) {
      if (!groups.includes(group)) groups.splice(next, 0, group)
      next = groups.indexOf(group) + 1
    }
  }
  return groups
}

function outcomeOf(results: readonly ContractResult[], group: string, test: string): Outcome {
  const found = results.filter((one) => one.group === group && one.test === test)
  if (found.length === 0) return 'absent'
  return found.every(({ passed }) => passed) ? 'passed' : 'failed'
}

function distinct(titles: readonly string[]): string[] {
  return [...new Set(titles)]
}
