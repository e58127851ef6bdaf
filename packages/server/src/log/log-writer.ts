import { setTimeout as delay } from 'node:timers/promises'
import { constants, fstatSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Writes some of the bytes, the first ones; resolves with how many. */
export type WriteSome = (bytes: Uint8Array) => Promise<number>

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

const lineFeed = 0x0a

/** How long a pipe or terminal that is full gets before the next try, in milliseconds. */
const retryMs = 50

/** A {@link LogWriter} by `writeSome`, which is called again only when its promise has settled. */
export function createLogWriter(
  writeSome: WriteSome,
  { maxWaiting, onDropped, onRecovered }: LogWriterOptions,
): LogWriter {
  const waiting: Buffer[] = []
  const ending = new AbortController()
  let bytesWaiting = 0
  let lost = 0
  let isTorn = false
  let writing: Promise<void> | undefined

  const drop = (lines: number) => {
    lost += lines
    onDropped(lines)
  }

  /** Whether all of it was written. */
  const put = async (lines: Buffer): Promise<boolean> => {
    // The rest of a line that was cut off must not become the beginning of the next one.
    const bytes = isTorn ? Buffer.concat([Buffer.of(lineFeed), lines]) : lines
    const { written, isWhole } = await writeAll(writeSome, bytes, ending.signal)
    const whole = countLines(bytes.subarray(0, written)) - (isTorn && written > 0 ? 1 : 0)
    if (written > 0) isTorn = bytes[written - 1] !== lineFeed
    if (!isWhole) drop(countLines(lines) - whole)
    return isWhole
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

async function writeAll(writeSome: WriteSome, bytes: Uint8Array, signal: AbortSignal) {
  let written = 0
  while (written < bytes.length) {
    try {
      written += await writeSome(bytes.subarray(written))
    } catch (error) {
      if (!isFull(error) || signal.aborted) return { written, isWhole: false }
      await delay(retryMs, undefined, { signal }).catch(() => {})
    }
  }
  return { written, isWhole: true }
}

/** Whether a pipe or terminal takes nothing just now. */
function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines++
  return lines
}

/**
 * A descriptor of the same pipe or terminal as `fd` on which a write fails with `EAGAIN` where it would wait. `fd` itself
 * where there is none: a file or a socket, or a system that cannot open it once more.
 *
 * A write that waits for a reader holds a thread of the pool, and a process does not end before its threads do.
 */
export function nonBlocking(fd: number): number {
  try {
    // Not by changing the mode of `fd`, which other processes share.
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    const isSlow = fstatSync(fd).isFIFO() || isatty(fd)
    return isSlow ? openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY) : fd
  } catch {
    return fd
  }
}
