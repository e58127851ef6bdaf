import { setTimeout as delay } from 'node:timers/promises'
import { constants, fstatSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Writes some of the bytes, the first ones; resolves with how many. */
export type WriteSome = (bytes: Uint8Array) => Promise<number>

/** What has become of lines that were to be appended. */
export interface AppendedLines {
  /** How many of them are written whole, the first ones. */
  readonly lines: number
  /** Why the others are not. */
  readonly error?: unknown
}

/** How long to wait for the reader of a pipe or terminal that is full. */
export interface Patience {
  /** How long it may take nothing, in milliseconds; 0 gives up at once. Default: as long as it takes. */
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

const lineFeed = 0x0a

/** How long a pipe or terminal that is full gets before the next try, in milliseconds. */
const retryMs = 20

/**
 * Makes the {@link AppendLines} of one output, which remembers whether it has written only a part of a line. That part must not
 * become the beginning of the next line. Its calls follow each other: none begins before the one before has resolved.
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

/** Whether a pipe or terminal takes nothing just now. */
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

interface LineLimit {
  /** Whether the next one gets a line; if not, it is counted. */
  readonly admit: () => boolean
  /** Reports at once what was counted, as at the end of the time. */
  readonly flush: () => void
}

export interface LineLimitOptions {
  /** How many get a line within `windowMs`. */
  readonly perWindow: number
  /** From the first one on, in milliseconds. */
  readonly windowMs: number
  /** Called at its end with how many got no line, if there are any. */
  readonly onOmitted: (count: number) => void
}

/** Bounds lines that clients could otherwise write without end. */
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
