/** Microseconds between two times; a double holds seconds to about a quarter of a microsecond, and systems round. */
const step = 10

/** Microseconds by which the clock must have gone back to be believed. */
const setBack = 1_000_000

let last = 0

/**
 * The current time in seconds, different from every other one given by this process lately. The kernel's own time
 * moves in steps of milliseconds, in which a file can be replaced twice and get its first inode back: two contents, one
 * entity tag.
 */
export function nextModificationTime(): number {
  const withinMillisecond = Number((process.hrtime.bigint() / 1000n) % 1000n)
  const now = Date.now() * 1000 + withinMillisecond
  last = now < last - setBack ? now : Math.max(now, last + step)
  return last / 1_000_000
}
