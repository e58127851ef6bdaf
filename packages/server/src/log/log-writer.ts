import { setTimeout as delay } from 'node:timers/promises'
import { countLines, createAppendLines, type WriteSome } from './append-lines.ts'

export interface LogWriterOptions {
  /** How many bytes may wait to be written; lines beyond that are dropped. */
  readonly maxWaiting: number
  /** Called when lines have been dropped. */
  readonly onDropped: (lines: number) => void
  /** Called when lines are written again after `lines` were dropped. */
  readonly onRecovered: (lines: number) => void
}

/** Writes lines in order and never fails: lines that cannot be written are dropped. */
export interface LogWriter {
  /** Takes one or more whole lines. */
  write(lines: string): void
  /**
   * Resolves when all lines are written or dropped, after `limitMs` at the latest, and drops what is left then. `false`
   * where a write is still under way.
   */
  end(limitMs: number): Promise<boolean>
}

/** A {@link LogWriter} by `writeSome`, which is called again only when its promise has settled. */
export function createLogWriter(
  writeSome: WriteSome,
  { maxWaiting, onDropped, onRecovered }: LogWriterOptions,
): LogWriter {
  const append = createAppendLines()
  const waiting: Buffer[] = []
  const ending = new AbortController()
  let bytesWaiting = 0
  let lost = 0
  let writing: Promise<void> | undefined

  const drop = (lines: number) => {
    lost += lines
    onDropped(lines)
  }

  /** Whether all of them were written. */
  const put = async (lines: Buffer): Promise<boolean> => {
    const { lines: whole, error } = await append(writeSome, lines, ending)
    if (error !== undefined) drop(countLines(lines) - whole)
    return error === undefined
  }

  const writeWaiting = async () => {
    for (let lines = waiting.shift(); lines; lines = waiting.shift()) {
      const isWritten = await put(lines)
      bytesWaiting -= lines.length
      // Half of the room, or a slow reader would get a warning for each line that it takes.
      if (!isWritten || lost === 0 || bytesWaiting > maxWaiting / 2) continue
      const recovered = lost
      lost = 0
      onRecovered(recovered)
    }
    writing = undefined
  }

  return {
    write(lines) {
      const bytes = Buffer.from(lines)
      if (ending.signal.aborted || bytesWaiting + bytes.length > maxWaiting) {
        return drop(countLines(bytes))
      }
      waiting.push(bytes)
      bytesWaiting += bytes.length
      writing ??= writeWaiting()
    },
    async end(limitMs) {
      const timer = new AbortController()
      await Promise.race([writing, delay(limitMs, undefined, timer).catch(() => {})])
      timer.abort()
      waiting.length = 0
      ending.abort()
      // Those that were tried again give up now.
      await new Promise((resolve) => setImmediate(resolve))
      return writing === undefined
    },
  }
}
