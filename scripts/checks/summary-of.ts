import type { FlakyFile } from './retry-external.ts'
import type { addReports, Failure } from './report.ts'

/** What a run has not shown, or only at the second try. */
export interface Reservations {
  /** Suites that need containers, in a run without them. */
  readonly leftOut?: readonly string[] | undefined
  /** Test files that take long. */
  readonly long?: readonly string[]
  readonly flaky?: readonly FlakyFile[]
}

/** The end of what `scripts/test` says: what suites have counted, what failed, what was left out, the numbers. */
export function summaryOf(
  { passed, failures, figures }: ReturnType<typeof addReports>,
  { leftOut, long = [], flaky = [] }: Reservations = {},
): string {
  const lines = [
    '',
    ...figures,
    ...failures.flatMap(describe),
    ...(leftOut ? [`left out (--without-containers): ${leftOut.join(', ') || 'nothing'}`] : []),
    ...(long.length > 0
      ? [`left out, since they take long (CI runs them, and --all): ${long.join(', ')}`]
      : []),
    ...flaky.map(({ file, title, error }) => `flaky: ${file}: ${title}, ${error}`),
    `${passed} passed, ${failures.length} failed`,
  ]
  return lines.join('\n')
}

function describe({ file, title, message, again }: Failure): string[] {
  const place = file === undefined ? [title] : [file, `  ${title}`]
  return [`failed: ${place.join('\n')}`, indent(message), `  again: ${again}`, '']
}

// Some messages are whole documents; the report above has them.
function indent(message: string): string {
  const lines = message.split('\n')
  const rest = lines.length > mostLines ? [`(${lines.length - mostLines} more lines)`] : []
  return [...lines.slice(0, mostLines), ...rest].map((line) => `  ${line}`).join('\n')
}

const mostLines = 10
