import { openSync, readSync } from 'node:fs'

/** Times of the thread that asks, in milliseconds. */
export interface ThreadClock {
  /** Never goes back. */
  now(): number
  /**
   * For how long the thread could have run, and another had the processor, since it began. Waiting for a disk is not
   * part of it. Always 0 where the system does not count it.
   */
  withoutProcessor(): number
}

/** Takes two microseconds for `withoutProcessor`, on Linux, where alone it is known. */
export const threadClock: ThreadClock = { now: () => performance.now(), withoutProcessor }

const bytes = Buffer.alloc(64)

/** Open until the process ends; `undefined` where there is none. */
let statistics: number | undefined
let isOpened = false

function withoutProcessor(): number {
  try {
    if (!isOpened) {
      isOpened = true
      statistics = openSync('/proc/thread-self/schedstat', 'r')
    }
    if (statistics === undefined) return 0
    // Nanoseconds on the processor, nanoseconds of waiting for one, number of turns.
    const length = readSync(statistics, bytes, 0, bytes.length, 0)
    const nanoseconds = Number(bytes.toString('latin1', 0, length).split(' ')[1])
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : 0
  } catch {
    statistics = undefined
    return 0
  }
}
