/**
 * Microseconds between two times of one writer, and as many writers. A double holds seconds to about a quarter of a
 * microsecond, and systems cut off what is less than one.
 */
const step = 10

/** Steps by which the clock must have gone back to be believed. */
const setBack = 1_000_000 / step

let last = 0

/**
 * The current time in seconds, different from every other one given lately by this process, and by others as far as they
 * have another `writer` below ten. The kernel's own time moves in steps of milliseconds, in which a file can be replaced
 * twice and get its first inode back: two contents, one entity tag.
 */
export function nextModificationTime(writer: number): number {
  const withinMillisecond = Number((process.hrtime.bigint() / 1000n) % 1000n)
  const now = Math.floor((Date.now() * 1000 + withinMillisecond) / step)
  last = now < last - setBack ? now : Math.max(now, last + 1)
  return (last * step + (writer % step) + 0.5) / 1_000_000
}
