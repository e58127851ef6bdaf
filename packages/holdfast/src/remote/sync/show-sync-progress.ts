import { formatBytes } from '@holdfast/core'
import type { ProgressOutput } from '../../copy/show-progress.ts'
import type { SyncProgress } from './sync-plan.ts'

export interface SyncDisplay {
  readonly update: (progress: SyncProgress) => void
  /** Writes a separate line above the progress. */
  readonly note: (line: string) => void
  /** Shows nothing afterwards. */
  readonly end: () => void
}

/** Milliseconds between two updates: of a line that is redrawn, and of plain ones. */
const intervals = { redrawn: 200, plain: 30_000 }

const eraseLine = '\r\u001b[K'

/**
 * Shows progress on a terminal: in one line that is redrawn, or, if the environment asks for plain output, as a line every half minute.
 * Elsewhere, as in a log, it shows none.
 *
 * @param options `done`: what is done with files, such as `sent`
 */
export function showSyncProgress(
  output: ProgressOutput,
  environment: Readonly<Record<string, string | undefined>>,
  { done = 'sent', isQuiet = false }: { readonly done?: string; readonly isQuiet?: boolean } = {},
): SyncDisplay {
  const isPlain = Boolean(environment['NO_COLOR']) || environment['TERM'] === 'dumb'
  const isTerminal = output.isTTY === true && !isQuiet
  const isRedrawn = isTerminal && !isPlain
  let latest: SyncProgress | undefined
  const show = () => {
    if (!latest || !isTerminal) return
    const line = lineOf(latest, done)
    if (isRedrawn) output.write(eraseLine + line.slice(0, (output.columns || 80) - 1))
    else output.write(`${line}\n`)
    latest = undefined
  }
  const timer = setInterval(show, isRedrawn ? intervals.redrawn : intervals.plain)
  return {
    update: (progress) => void (latest = progress),
    note: (line) => void output.write(isRedrawn ? `${eraseLine}${line}\n` : `${line}\n`),
    end() {
      clearInterval(timer)
      if (isRedrawn) output.write(eraseLine)
    },
  }
}

function lineOf({ checked, total, moved, movedBytes }: SyncProgress, done: string): string {
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((checked / total) * 100))
  return `${percent}%  ${checked} of ${total} files  ${moved} ${done}  ${formatBytes(movedBytes)}`
}
