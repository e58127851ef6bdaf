/**
 * Microseconds between two times of one writer, and the number of writers. A double holds seconds to about a quarter of a
 * microsecond, and systems drop fractions of a microsecond.
 */
const interval = 10

/** If the clock goes back by less than this, in intervals, the times go on from the last one. */
const setBack = 1_000_000 / interval

let last = 0

/**
 * The current time in seconds, unique among the recent ones of this process, and of other processes with another `writer`
 * below ten. The kernel's own time advances in milliseconds. Within one, a file can be replaced twice and get its first
 * inode back, so that two contents would have one entity tag.
 */
export function nextModificationTime(writer: number): number {
  const withinMillisecond = Number((process.hrtime.bigint() / 1000n) % 1000n)
  const now = Math.floor((Date.now() * 1000 + withinMillisecond) / interval)
  last = now < last - setBack ? now : Math.max(now, last + 1)
  return (last * interval + (writer % interval) + 0.5) / 1_000_000
}
