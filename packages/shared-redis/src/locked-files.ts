import type { Amount } from '@holdfast/core'
import type { NameLocks } from './name-locks.ts'

/** The files of a customer whose names this server has locked, since their space is about to become free. */
export interface LockedFiles {
  /** Locks a name; resolves with the function that unlocks it. `present` is the count of the account that is known now. */
  lock(name: string, kept: Amount, present: string): Promise<() => void>
  /**
   * The count that was known when the files were looked up that are locked now. Empty if it is uncertain that they are the same still: a
   * name could not be locked while the engine was away.
   */
  present(): string
}

/** Makes a {@link LockedFiles} of `customer`. */
export function createLockedFiles(customer: string, nameLocks: NameLocks): LockedFiles {
  const locked = new Set<{ present: string }>()
  return {
    async lock(name, kept, present) {
      const file = { present }
      locked.add(file)
      try {
        const lock = await nameLocks(customer, name, kept)
        if (!lock.isHeld) file.present = ''
        return () => {
          locked.delete(file)
          lock.unlock()
        }
      } catch (error) {
        locked.delete(file)
        throw error
      }
    },
    present() {
      const [first] = locked
      const isCertain = [...locked].every(({ present }) => present !== '')
      return isCertain ? (first?.present ?? '') : ''
    },
  }
}
