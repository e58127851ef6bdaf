import { stat } from 'node:fs/promises'
import { isAbsence } from '../files/system-error.ts'
import { DisturbedWalk } from '../temp/walk-markers.ts'
import type { EntriesOf } from './directory-entries.ts'

/**
 * Milliseconds for which a directory must not have changed before it is read. Two changes within a tick of the kernel's
 * clock, 10 ms at most, may have the same time; so may two within a second where times are counted in seconds, as Deno
 * and some file systems do.
 */
function settlingTime(changedAt: bigint): number {
  return changedAt % 1_000_000_000n === 0n ? 1_050 : 50
}

/** Yields the entries of a directory only while its time of last change (ctime) stays the same. @throws DisturbedWalk */
export function unchangedEntriesOf(entriesOf: EntriesOf): EntriesOf {
  return async function* (directory) {
    const before = await changedAt(directory)
    if (before !== undefined && Date.now() - Number(before / 1_000_000n) < settlingTime(before)) {
      throw new DisturbedWalk()
    }
    yield* entriesOf(directory)
    if ((await changedAt(directory)) !== before) throw new DisturbedWalk()
  }
}

/** In nanoseconds since 1970. */
async function changedAt(directory: string): Promise<bigint | undefined> {
  try {
    return (await stat(directory, { bigint: true })).ctimeNs
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
