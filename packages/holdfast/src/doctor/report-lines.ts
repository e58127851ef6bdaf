import type { Finding, FindingMark } from '@holdfast/core'
import { visible } from '@holdfast/server/visible'

/** How many findings have which mark. */
export type MarkCount = Readonly<Record<FindingMark, number>>

/** Colours `text` for a terminal as `mark` asks. */
export type Paint = (mark: FindingMark, text: string) => string

const markWidth = 8
const checkWidth = 18
const indent = '  '

/** One line for the finding, and one for each of its remedies. */
export function reportLines({ check, mark, message, remedies }: Finding, paint: Paint): string[] {
  const marked = paint(mark, mark.padEnd(markWidth))
  const first = `${indent}${marked} ${check.padEnd(checkWidth)} ${visible(message)}`
  const margin = indent + ' '.repeat(markWidth + 1 + checkWidth + 1)
  return [first, ...remedies.map((remedy) => `${margin}-> ${visible(remedy)}`)]
}

/** The last line: the number of problems and warnings, and whether the server can run. */
export function summaryLine({ ok, warning, problem, skipped }: MarkCount): string {
  const numbers = [
    counted(problem, 'problem', 'No'),
    counted(warning, 'warning', 'no'),
    `${ok} ok`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  const advice = problem > 0 ? 'Mend the problems first.' : 'The server can run.'
  return `${numbers.join(', ')}. ${advice}`
}

function counted(number: number, word: string, none: string): string {
  return number === 1 ? `1 ${word}` : `${number === 0 ? none : number} ${word}s`
}
