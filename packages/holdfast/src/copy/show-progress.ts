import type { CopyProgress } from '@holdfast/copy'
import { createPaceMeter } from './measure-pace.ts'
import { progressLine, progressLogLine } from './progress-line.ts'

/** What progress is shown on; standard error is one. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ProgressDisplay {
  update(progress: CopyProgress): void
  /** Writes a separate line above the progress. */
  note(line: string): void
  /** Shows the last progress; nothing is shown after that. */
  end(): void
}

/** Milliseconds between two updates: of a line that is redrawn, and of plain ones. */
const intervals = { redrawn: 200, plain: 5000 }

const eraseLine = '\r\u001b[K'

/**
 * Shows progress on a terminal: in one line that is redrawn, or where the environment asks for plain output (`NO_COLOR`,
 * `TERM=dumb`), as a line every five seconds and at the end. Elsewhere, as in a log, there is none.
 */
export function showProgress(
  output: ProgressOutput,
  environment: Readonly<Record<string, string | undefined>>,
): ProgressDisplay {
  const isPlain = Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb'
  const isTerminal = output.isTTY === true
  const isRedrawn = isTerminal && !isPlain
  const paceOf = createPaceMeter()
  let latest: CopyProgress | undefined

  const show = () => {
    if (!latest || !isTerminal) return
    const pace = paceOf({ at: Date.now(), progress: latest })
    // A character in the last column would make some terminals begin a new line.
    if (isRedrawn) output.write(eraseLine + progressLine(latest, pace, (output.columns || 80) - 1))
    else output.write(`${progressLogLine(latest, pace)}\n`)
  }
  const timer = setInterval(show, isRedrawn ? intervals.redrawn : intervals.plain)

  return {
    update(progress) {
      // Where each stage begins, for the pace of the first line.
      if (latest?.stage !== progress.stage) paceOf({ at: Date.now(), progress })
      latest = progress
    },
    note(line) {
      output.write(isRedrawn ? `${eraseLine}${line}\n` : `${line}\n`)
    },
    end() {
      clearInterval(timer)
      show()
      if (isRedrawn && latest) output.write('\n')
    },
  }
}
