import { mkdir, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isSystemError } from '../files/translate-fs-error.ts'
import type { MountCheck } from './mount-check.ts'

/** Makes directories below a root durably, and remembers which ones are durable. */
export interface DurableDirectories {
  /** Resolves when `directory`, the root or one below it, exists and survives a power cut. */
  ensure(directory: string): Promise<void>
  /**
   * Makes `directory` if needed, then runs `change`. If an administrator removes the directory meanwhile, or one above it, does both
   * again.
   */
  within(directory: string, change: () => Promise<void>): Promise<void>
}

/** Owner and group; other users may not read customers' files. */
const directoryMode = 0o750

/** Enough for every active customer; more would only take memory. */
const maxRemembered = 10_000

/** Makes directories below `root`, which exists. It waits for `check` before it makes one. */
export function createDurableDirectories(root: string, check: MountCheck): DurableDirectories {
  const known = new Map<string, Promise<void>>()

  const create = async (directory: string) => {
    const parent = dirname(directory)
    await ensure(parent)
    await check()
    const outcome = { isMade: false }
    try {
      // Also sync a directory that existed: the process that made it may not have synced it yet, and a power cut would
      // remove it with the file in it.
      await changeDurably(parent, async () => {
        outcome.isMade = await makeDirectory(directory)
      })
    } catch (error) {
      // A failed sync drops the change, and no later sync writes it. To make the directory again is a new change.
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

  return {
    ensure,
    async within(directory, change) {
      await ensure(directory)
      try {
        await change()
      } catch (error) {
        if (!isSystemError(error, 'ENOENT')) throw error
        known.clear()
        await ensure(directory)
        await change()
      }
    },
  }
}

/** Resolves with `false` if it existed. */
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
