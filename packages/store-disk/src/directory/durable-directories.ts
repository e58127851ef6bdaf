import { mkdir, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isSystemError } from '../files/system-error.ts'
import type { MountCheck } from './mount-check.ts'

/** Directories below a root, of which it is certain that they survive a power cut. */
export interface DurableDirectories {
  /** Resolves once `directory`, which is the root or lies below it, exists for good. */
  ensure(directory: string): Promise<void>
  /** Forgets what is known, for when a directory turns out to be gone. */
  forget(): void
}

/** Owner and group; others have no business with customers' files. */
const directoryMode = 0o750

/** Enough for every active customer; more would only hold memory. */
const maxRemembered = 10_000

/** Keeps track of the directories below `root`, which exists. `check` is asked whether one may be made. */
export function createDurableDirectories(root: string, check: MountCheck): DurableDirectories {
  const known = new Map<string, Promise<void>>()

  const create = async (directory: string) => {
    const parent = dirname(directory)
    await ensure(parent)
    await check()
    const outcome = { isMade: false }
    try {
      // Synced also when it was there already: whoever made it may not have come this far yet, and a file in a
      // directory that a power cut takes away is lost.
      await changeDurably(parent, async () => {
        outcome.isMade = await makeDirectory(directory)
      })
    } catch (error) {
      // What a failed sync has dropped no later one writes; a directory that is made anew, it does.
      if (outcome.isMade) await rmdir(directory).catch(() => {})
      throw error
    }
    crashPoint('directory-synced')
  }

  const ensure = async (directory: string): Promise<void> => {
    if (directory === root) return
    if (known.size > maxRemembered) known.clear()
    const creation = known.get(directory) ?? create(directory)
    known.set(directory, creation)
    await creation.catch((error: unknown) => {
      known.delete(directory)
      throw error
    })
  }

  return { ensure, forget: () => known.clear() }
}

/** Whether it was not there before. */
async function makeDirectory(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { mode: directoryMode })
    crashPoint('directory-made')
    return true
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false
    throw error
  }
}
