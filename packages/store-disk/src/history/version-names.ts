import type { BigIntStats } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobKey } from '@holdfast/core'
import type { DataDirectory } from '../directory/data-directory.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { fileStats, isAbsence, isSystemError, undefinedIfAbsent } from '../files/file-calls.ts'
import { makeDirectories } from '../files/file-system.ts'

/**
 * Gives the file of a blob a second name, so that the file stays when it loses the name of the blob:
 * `versions/CUSTOMER/NAME/VERSION`. `docs/decisions/050-a-second-name-for-what-may-be-replaced.md` explains the order of the steps.
 */
export interface VersionNames {
  /** The directory of the versions of `key`, which need not exist. */
  directoryOf(key: BlobKey): string
  /**
   * Gives the file at `path`, which is about to become the blob `key`, its version name. The name survives a power cut if the blob does.
   * `undo` removes it, unless the file has become the blob; it never rejects.
   */
  give(key: BlobKey, path: string): Promise<{ readonly undo: () => Promise<void> }>
  /** Makes sure that the file of the blob `key`, at `path`, has its version name. Call this before the file loses the blob's name. */
  ensure(key: BlobKey, path: string, stats: BigIntStats): Promise<void>
  /** Whether a version of `key` is newer than a file with these stats. */
  hasNewer(key: BlobKey, stats: BigIntStats): Promise<boolean>
  /** Removes the version name of a file that has these stats, which is the blob of another name now. Never rejects. */
  take(key: BlobKey, stats: BigIntStats): Promise<void>
}

type Site = Pick<
  DataDirectory,
  | 'layout'
  | 'versions'
  | 'metadataDirectories'
  | 'tempDirectory'
  | 'calls'
  | 'keepsOrder'
  | 'checkMount'
>

/** Version names that are known to be durable, at most. */
const mostKnown = 10_000

export function createVersionNames(site: Site): VersionNames {
  const { layout, versions, metadataDirectories, tempDirectory, calls, keepsOrder, checkMount } =
    site
  const durable = new Set<string>()
  const directoryOf = (key: BlobKey) => versions.blobPath(key)

  /**
   * Makes `change` in the directory. Where the file system keeps the order of changes, nothing is synced: once the blob has its name
   * after a power cut, so has the version, since that came first.
   */
  const changeIn = async (directory: string, change: () => Promise<void>) => {
    if (!keepsOrder) {
      return metadataDirectories.within(directory, () => changeDurably(directory, change, calls))
    }
    try {
      await change()
    } catch (error) {
      if (!isSystemError(error, 'ENOENT')) throw error
      await checkMount()
      await makeDirectories(directory)
      await change()
    }
  }
  const note = (version: string) => {
    if (keepsOrder) return
    if (durable.size >= mostKnown) durable.clear()
    durable.add(version)
  }
  const pathOf = (key: BlobKey, stats: BigIntStats) => join(directoryOf(key), versionOf(stats))

  /** Resolves with whether it made the name, which may be there already. */
  const link = async (path: string, version: string): Promise<boolean> => {
    let isMade = false
    await changeIn(dirname(version), async () => {
      try {
        await calls.link(path, version)
        isMade = true
      } catch (error) {
        if (!isSystemError(error, 'EEXIST')) throw error
      }
      crashPoint('version-named')
    })
    return isMade
  }

  const remove = async (version: string) => {
    durable.delete(version)
    await tempDirectory.remove(version)
    crashPoint('version-removed')
  }

  return {
    directoryOf,

    async give(key, path) {
      const stats = await calls.lstat(path)
      const version = pathOf(key, stats)
      await link(path, version)
      note(version)
      return {
        async undo() {
          const present = await fileStats(layout.blobPath(key), calls).catch(() => undefined)
          if (present?.ino !== stats.ino) await remove(version)
        },
      }
    },

    async ensure(key, path, stats) {
      const version = pathOf(key, stats)
      // Without order, its name may be one that another process has not synced yet. A known one may have been removed since.
      const mayBeDurable = keepsOrder || durable.has(version)
      if (mayBeDurable && (await fileStats(version, calls))?.ino === stats.ino) return
      let isMade: boolean
      try {
        isMade = await link(path, version)
      } catch (error) {
        // Another process has deleted the file. It made sure of the version name before that.
        if (isAbsence(error)) return
        throw error
      }
      const linked = await fileStats(version, calls)
      if (linked?.ino === stats.ino) return note(version)
      // Another process has replaced the file, and made sure of its version name before. So the name that this call made leads to the wrong
      // file. A name that existed stays: a backup without hard links restored a copy of the file under it.
      if (isMade) await remove(version)
    },

    async hasNewer(key, stats) {
      const own = versionOf(stats)
      for await (const { name } of await openDirectory(directoryOf(key))) {
        if (isVersion(name) && name > own) return true
      }
      return false
    },

    async take(key, stats) {
      await remove(pathOf(key, stats))
    },
  }
}

/** A time, and the number of an inode of 64 bits in base 36. */
const pattern = /^\d{8}T\d{6}\.\d{9}Z-[0-9a-z]{1,13}$/

/**
 * The name of the version whose file has these stats: the time of its last modification in UTC, to the nanosecond, and the number of its
 * inode in base 36. The names of a blob's versions, in the order of their characters, are in the order of time.
 */
export function versionOf({ ino, mtimeNs }: BigIntStats): string {
  const seconds = new Date(Number(mtimeNs / 1_000_000_000n) * 1000).toISOString().slice(0, 19)
  const nanoseconds = (mtimeNs % 1_000_000_000n).toString().padStart(9, '0')
  return `${seconds.replaceAll(/[-:]/g, '')}.${nanoseconds}Z-${ino.toString(36)}`
}

/** Whether an entry of a version directory is a version: others are foreign. */
export function isVersion(entry: string): boolean {
  return pattern.test(entry)
}

/** The entries of `directory`; none if there is no such directory. */
export async function openDirectory(
  directory: string,
): Promise<AsyncIterable<{ readonly name: string }>> {
  return (await opendir(directory, { bufferSize: 1024 }).catch(undefinedIfAbsent)) ?? nothing
}

const nothing: AsyncIterable<never> = { async *[Symbol.asyncIterator]() {} }
