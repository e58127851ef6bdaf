import { setTimeout as delay } from 'node:timers/promises'
import { constants, fstatSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Writes some of the first bytes; resolves with their number. */
export type WriteSome = (bytes: Uint8Array) => Promise<number>

/** The result of appending lines. */
export interface AppendedLines {
  /** How many of the first lines were written completely. */
  readonly lines: number
  /** Why the other lines were not. */
  readonly error?: unknown
}

/** How long to wait for the reader of a full pipe or terminal. */
export interface Patience {
  /** How long the reader may take nothing, in milliseconds; with 0 the wait ends at once. Default: no limit. */
  readonly giveUpAfterMs?: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal
}

/** Appends one or more whole lines by `writeSome`. Never rejects. */
export type AppendLines = (
  writeSome: WriteSome,
  lines: Buffer,
  patience?: Patience,
) => Promise<AppendedLines>

export const lineFeed = 0x0a

/** How long to wait before retrying a full pipe or terminal, in milliseconds. */
const retryMs = 20

/**
 * Makes the {@link AppendLines} of one output. It remembers whether only a part of a line was written, and then begins a new line
 * first. Do not call it before the previous call has resolved.
 */
export function createAppendLines(): AppendLines {
  let isTorn = false
  return async (writeSome, lines, patience = {}) => {
    const bytes = isTorn ? Buffer.concat([Buffer.of(lineFeed), lines]) : lines
    const { written, error } = await writeAll(writeSome, bytes, patience)
    const endOfTorn = isTorn && written > 0 ? 1 : 0
    if (written > 0) isTorn = bytes[written - 1] !== lineFeed
    return { lines: countLines(bytes.subarray(0, written)) - endOfTorn, error }
  }
}

async function writeAll(
  writeSome: WriteSome,
  bytes: Uint8Array,
  { giveUpAfterMs = Infinity, signal }: Patience,
) {
  let written = 0
  let waitedMs = 0
  while (written < bytes.length) {
    try {
      written += await writeSome(bytes.subarray(written))
      waitedMs = 0
    } catch (error) {
      if (!isFull(error) || waitedMs >= giveUpAfterMs || signal?.aborted) return { written, error }
      await delay(retryMs, undefined, { signal }).catch(() => {})
      waitedMs += retryMs
    }
  }
  return { written }
}

/** Whether a write failed because a pipe or terminal is full. */
function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

/** How many lines end in `bytes`. */
export function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines++
  return lines
}

/**
 * Another descriptor of the pipe or terminal `fd`, on which a write that would have to wait fails with `EAGAIN`. Returns `fd` itself
 * for a file or a socket, and if the system cannot open it again.
 *
 * A write that waits for a reader blocks a thread of the pool, and a process does not end before its threads do.
 */
export function nonBlocking(fd: number): number {
  try {
    // The mode of `fd` itself must not change: other processes share it.
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    const isSlow = fstatSync(fd).isFIFO() || isatty(fd)
    return isSlow ? openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY) : fd
  } catch {
    return fd
  }
}

interface LineLimit {
  /** Whether the next event gets a line; if not, it is counted. */
  readonly admit: () => boolean
  /** Reports the count at once, as at the end of the period. */
  readonly flush: () => void
}

export interface LineLimitOptions {
  /** How many events get a line within `windowMs`. */
  readonly perWindow: number
  /** The length of a period, which begins with its first event, in milliseconds. */
  readonly windowMs: number
  /** Called at the end of a period with the number of events without a line, if there are any. */
  readonly onOmitted: (count: number) => void
}

/** Limits lines that clients could otherwise cause in any number. */
export function createLineLimit({ perWindow, windowMs, onOmitted }: LineLimitOptions): LineLimit {
  let admitted = 0
  let omitted = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    admitted = 0
    if (omitted > 0) onOmitted(omitted)
    omitted = 0
  }
  return {
    admit() {
      timer ??= setTimeout(flush, windowMs).unref()
      if (admitted < perWindow) return ++admitted > 0
      omitted++
      return false
    },
    flush,
  }
}
