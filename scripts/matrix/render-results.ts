import type { ContractResult } from './contract-result.ts'
import { printableTitle } from './printable-title.ts'
import { resultTable, type GroupRows, type Outcome } from './result-table.ts'
import type { Suite } from './stores.ts'

const marks: Record<Outcome, string> = { passed: 'ok', failed: 'FAILED', absent: '-' }

/** Markdown with a section for each group: its tests by name, and beside each how it ended on each of `suites`. */
export function renderResults(
  suites: readonly Suite[],
  results: readonly ContractResult[],
): string {
  return resultTable(suites, results)
    .map((group) => section(suites, group))
    .join('\n')
}

function section(suites: readonly Suite[], { group, rows }: GroupRows): string {
  const lines = [
    [...suites.map(({ column }) => column), 'test'],
    ...rows.map(({ test, outcomes }) => [
      ...outcomes.map((outcome) => marks[outcome]),
      printableTitle(test),
    ]),
  ]
  const widths = suites.map(({ column }) => Math.max(column.length, marks.failed.length))
  const text = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
  return `## ${group}\n\n\`\`\`text\n${text.join('\n')}\n\`\`\`\n${notes(suites, group)}`
}

function notes(suites: readonly Suite[], group: string): string {
  const lines = suites.flatMap(({ column, without, exceptions }) => {
    const reason = without[group]
    const exception = exceptions[group]
    return [
      ...(reason === undefined ? [] : [`- ${column}: not run; ${reason}\n`]),
      ...(exception === undefined ? [] : [`- ${column}: ${exception}\n`]),
    ]
  })
  return lines.length === 0 ? '' : `\n${lines.join('')}`
}
