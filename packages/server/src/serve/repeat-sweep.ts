import { setTimeout as delay } from 'node:timers/promises'

/** How long `close` waits for a sweep under way, in milliseconds. The next sweep goes on. */
const patienceMs = 1_000

/** How much longer than a sweep the pause after it is, and the longest pause for that reason, in milliseconds. */
const timesSweep = 10
const longestRestMs = 50 * 60 * 1000

/** Whether the sweeps are to end. */
export interface SweepEnd {
  readonly signal: AbortSignal
  /** Whether `signal` has aborted. */
  readonly hasCome: () => boolean
}

/**
 * Runs `sweep` at once in the background, and then again `pauseMs` after each end; after one that took long, ten times as long, so that
 * sweeps take at most a tenth of the time, but at most 50 minutes or `pauseMs`. `sweep` must not reject. `close` brings its end, and waits
 * at most a second for a sweep under way.
 */
export function repeatSweep(
  sweep: (end: SweepEnd) => Promise<void>,
  pauseMs: number,
): { close(): Promise<void> } {
  const closing = new AbortController()
  const end = { signal: closing.signal, hasCome: () => closing.signal.aborted }
  let timer: NodeJS.Timeout | undefined
  const run = async () => {
    const since = performance.now()
    await sweep(end)
    const rest = Math.min(timesSweep * (performance.now() - since), longestRestMs)
    if (!end.hasCome()) timer = setTimeout(begin, Math.max(pauseMs, rest)).unref()
  }
  const begin = () => {
    sweeping = run()
  }
  let sweeping = run()
  return {
    async close() {
      closing.abort()
      clearTimeout(timer)
      const patience = new AbortController()
      await Promise.race([sweeping, delay(patienceMs, undefined, patience).catch(() => {})])
      patience.abort()
    },
  }
}

/** The two clocks of a system, in milliseconds. */
export type Clocks = () => { readonly wall: number; readonly monotonic: number }

/** How far the wall clock may move against the monotonic one between two looks, in milliseconds. */
const toleranceMs = 60_000

/**
 * Notices jumps of the wall clock, after which the age of files is uncertain. The result says that the clock has jumped since the look
 * before, and how far; `undefined` if it has not. Default: the clocks of the system.
 */
export function createClockGuard(clocks: Clocks = systemClocks): () => string | undefined {
  let last = clocks()
  return () => {
    const now = clocks()
    const moved = now.wall - last.wall - (now.monotonic - last.monotonic)
    last = now
    if (Math.abs(moved) <= toleranceMs) return undefined
    return `the clock has jumped by ${Math.round(moved / 1000)} s`
  }
}

function systemClocks() {
  return { wall: Date.now(), monotonic: performance.now() }
}
