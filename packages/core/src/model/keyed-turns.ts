import { createKeyedLock } from './keyed-lock.ts'

/** The right to do something while no other does. */
export interface Turn {
  /**
   * How many earlier turns of the key had to be passed on before they ended, and may still be doing what they were for: that of a process
   * that stands still, and wakes up.
   */
  readonly unended: number
  /** Whether the same taker had the last turn of the key, so that no one else has changed anything since. `false` if that is not known. */
  readonly isNext: boolean
  readonly end: () => void
}

/** One turn at a time for each key, in the order of asking. */
export type KeyedTurns = (key: string) => Promise<Turn>

/** {@link KeyedTurns} of one process, none of which is passed on; `isShared` by several takers. Default: it is. */
export function createKeyedTurns(isShared = true): KeyedTurns {
  const lock = createKeyedLock()
  return async (key) => ({ unended: 0, isNext: !isShared, end: await lock(key) })
}
