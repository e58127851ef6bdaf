import { constants, fstatSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'

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
