import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { step } from './step.ts'
import { syncDirectory } from './sync-directory.ts'
import { isSystemError } from './system-error.ts'

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

/** Keeps track of the directories below `root`, which exists. */
export function createDurableDirectories(root: string): DurableDirectories {
  const known = new Map<string, Promise<void>>()

  const create = async (directory: string) => {
    await ensure(dirname(directory))
    try {
      await mkdir(directory, { mode: directoryMode })
      step('directory-made')
    } catch (error) {
      if (!isSystemError(error, 'EEXIST')) throw error
    }
    // Also when it was there already: whoever made it may not have come this far yet, and a file in a directory
    // that a power cut takes away is lost.
    await syncDirectory(dirname(directory))
    step('directory-synced')
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
