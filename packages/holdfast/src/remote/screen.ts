import { formatBytes } from '@holdfast/core'
import { visible } from '@holdfast/server/visible'
import { formatDuration, progressMode } from '../terminal/print.ts'

/** Where lines for people are written, such as standard error. */
export type ScreenOutput = Pick<NodeJS.WriteStream, 'write'> &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>

/** The progress of one file. */
export interface TransferDisplay {
  /** Receives the number of bytes transferred so far. */
  readonly update: (done: number) => void
  readonly end: () => void
}

/** Lines for people, and the progress of files below them. */
export interface Screen {
  line(text: string): void
  begin(name: string, size?: number): TransferDisplay
  /** Runs `work`, such as a question, and shows nothing meanwhile. */
  hold<T>(work: () => Promise<T>): Promise<T>
  /** Removes the progress. */
  end(): void
}

/** Redraws lines in place. */
interface Redrawn {
  (text: string): void
  clear(): void
  done(): void
}

/** Milliseconds between two plain lines of a file. */
const plainMs = 5000
/** The most files shown at a time. */
const mostLines = 8

/**
 * Shows progress on a terminal: as lines that are redrawn, or, if the environment asks for plain output (`NO_COLOR`, `TERM=dumb`), as a
 * line every five seconds for each file that takes so long. Elsewhere, as in a log, it shows none.
 */
export function createScreen(
  output: ScreenOutput,
  environment: Readonly<Record<string, string | undefined>>,
  isQuiet = false,
): Screen {
  const { isShown, isRedrawn, intervalMs } = progressMode(output, environment, {
    plainMs,
    isQuiet,
  })
  const transfers = new Set<Transfer>()
  let redrawn: Redrawn | undefined
  let timer: NodeJS.Timeout | undefined
  /** Lines that came during `hold`. */
  let held: string[] | undefined
  const lines = () =>
    [...transfers]
      .slice(0, mostLines)
      .map((each) => transferLine(each.state(), (output.columns || 80) - 1))
  const show = () => {
    if (held) return
    if (redrawn) redrawn(lines().join('\n'))
    else if (!isRedrawn) for (const line of lines()) output.write(`${line}\n`)
  }
  const start = () => {
    if (timer || !isShown) return
    timer = setInterval(show, intervalMs).unref()
    // Loaded only now, and only for a terminal, since the start must be fast.
    if (isRedrawn) void loadRedrawn(output).then((loaded) => (redrawn = loaded))
  }
  const line = (text: string) => {
    if (held) return void held.push(text)
    redrawn?.clear()
    output.write(`${text}\n`)
    if (transfers.size > 0) redrawn?.(lines().join('\n'))
  }
  return {
    line,
    async hold(work) {
      redrawn?.clear()
      held = []
      try {
        return await work()
      } finally {
        const texts = held
        held = undefined
        texts.forEach(line)
      }
    },
    begin(name, size) {
      const transfer = createTransfer(name, size)
      transfers.add(transfer)
      start()
      return { update: transfer.update, end: () => void transfers.delete(transfer) }
    },
    end() {
      clearInterval(timer)
      redrawn?.clear()
      redrawn?.done()
      redrawn = undefined
    },
  }
}

interface Transfer {
  readonly state: () => TransferState
  readonly update: TransferDisplay['update']
}

function createTransfer(name: string, size: number | undefined): Transfer {
  let done = 0
  let first: { readonly at: number; readonly done: number } | undefined
  return {
    state() {
      const seconds = first ? (Date.now() - first.at) / 1000 : 0
      const bytesPerSecond = first && seconds > 0 ? Math.max(0, done - first.done) / seconds : 0
      return { name, size, done, bytesPerSecond }
    },
    update(now) {
      done = now
      // What an earlier command has transferred must not count for the pace.
      first ??= { at: Date.now(), done }
    },
  }
}

async function loadRedrawn(output: ScreenOutput): Promise<Redrawn> {
  const { createLogUpdate } = await import('log-update')
  return createLogUpdate(output as NodeJS.WritableStream, { showCursor: true })
}

/** A file that is being transferred. */
interface TransferState {
  readonly name: string
  /** Bytes; `undefined` for a stream whose end has not been seen. */
  readonly size: number | undefined
  /** Bytes transferred, including those of an earlier command. */
  readonly done: number
  readonly bytesPerSecond: number
}

/** The progress of a file, in one line of at most `width` characters. */
export function transferLine(
  { name, size, done, bytesPerSecond }: TransferState,
  width: number,
): string {
  const left =
    size === undefined || bytesPerSecond <= 0 ? undefined : (size - done) / bytesPerSecond
  const parts = [
    size === undefined ? '' : `${Math.floor(size === 0 ? 100 : (done / size) * 100)}%`,
    size === undefined ? formatBytes(done) : `${formatBytes(done)} of ${formatBytes(size)}`,
    bytesPerSecond > 0 ? `${formatBytes(bytesPerSecond)}/s` : '',
    left === undefined ? '' : `${formatDuration(left)} left`,
  ]
  const facts = parts.filter((part) => part !== '').join('  ')
  const room = width - facts.length - 2
  const shown = visible(name)
  const label = shown.length <= room ? shown : `${shown.slice(0, Math.max(0, room - 3))}...`
  return `${label}  ${facts}`.slice(0, width)
}
