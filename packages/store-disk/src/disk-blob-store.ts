import { lstat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { compareUtf8, FileServiceError, type BlobStore } from '@holdfast/core'
import { atomicWrite } from './atomic-write.ts'
import { blobInfo } from './blob-info.ts'
import { openDataDirectory } from './data-directory.ts'
import type { WarningLog } from './instance.ts'
import type { NamesMode } from './layout.ts'
import { readBlob } from './read-blob.ts'
import { step } from './step.ts'
import { syncDirectory } from './sync-directory.ts'
import { isAbsence } from './system-error.ts'
import { findBlobs, findCustomers, measure } from './walk.ts'

export interface DiskBlobStoreOptions {
  /** Where everything is kept; made if missing. Several processes may share it. */
  readonly directory: string
  /**
   * How a new directory names its files; an existing one stays as it is. Default: `plain` where the file system keeps
   * all names apart, `escaped` elsewhere.
   */
  readonly names?: NamesMode
  /** Told of left-overs of a crash that were removed, and of those that cannot be. Default: nobody. */
  readonly log?: WarningLog
}

/** A {@link BlobStore} on a directory. */
export interface DiskBlobStore extends BlobStore {
  /** Removes the store's temporary files; puts under way fail. What was stored stays. */
  close(): Promise<void>
}

/**
 * Opens the store in `directory`. Every blob is a plain file; the README describes the layout for administrators. The
 * directory may be shared by processes and machines as far as their file system gives all of them atomic renames.
 *
 * @throws Error with a message for the administrator, if the directory holds something else, has a newer layout, or
 * lies
 * on a file system that cannot keep it.
 */
export async function openDiskBlobStore({
  directory,
  names,
  log = { warn: () => {} },
}: DiskBlobStoreOptions): Promise<DiskBlobStore> {
  const { layout, directories, instance } = await openDataDirectory(directory, names, log)

  return {
    async put(key, content, { createOnly = false, signal, release } = {}) {
      const target = layout.blobPath(key)
      signal?.throwIfAborted()
      if (createOnly && (await fileStats(target))) {
        throw new FileServiceError('already-exists', 'The name is taken')
      }
      const write = { instance, directories, target, content, createOnly, signal, release }
      return blobInfo(key.name, await atomicWrite(write))
    },

    async open(key, options = {}) {
      return readBlob(layout.blobPath(key), key.name, options)
    },

    async stat(key) {
      const stats = await fileStats(layout.blobPath(key))
      return stats && blobInfo(key.name, stats)
    },

    async delete(key) {
      const path = layout.blobPath(key)
      if (!(await fileStats(path)) || !(await unlinkIfThere(path))) return false
      // The directory stays: removing it would race with an upload into it.
      await syncDirectory(dirname(path))
      step('removal-synced')
      return true
    },

    async *list(customer, { prefix = '', after = '', limit = Infinity } = {}) {
      const wanted: string[] = []
      for await (const { name } of findBlobs(layout, customer)) {
        if (name.startsWith(prefix) && compareUtf8(name, after) > 0) wanted.push(name)
      }
      yield* wanted.sort(compareUtf8).slice(0, limit)
    },

    async usage(customer) {
      return measure(findBlobs(layout, customer))
    },

    async *customers() {
      yield* (await findCustomers(layout)).sort(compareUtf8)
    },

    close: () => instance.close(),
  }
}

/** Nothing but a regular file is a blob; a symbolic link is none, wherever it leads. */
async function fileStats(path: string) {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? stats : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

async function unlinkIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path)
    step('name-removed')
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}
