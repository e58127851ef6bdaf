import { join } from 'node:path'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { entriesBelow, makeTemporaryDirectory } from '@holdfast/testing'
import type { OpenedStore } from './running-service.ts'

/** A new store on disk, in a directory that is removed with it. */
export async function openDiskStore(): Promise<OpenedStore> {
  const directory = await makeTemporaryDirectory()
  const store = await openDiskBlobStore({ directory: directory.path })
  return {
    store,
    litter: () => findLitter(directory.path),
    close: async () => {
      await store.close()
      await directory[Symbol.asyncDispose]()
    },
  }
}

/** Temporary files; the open store's own directory for them, which is empty at rest, is none. */
export async function findLitter(directory: string): Promise<readonly string[]> {
  const own = join(directory, 'tmp')
  const entries = await entriesBelow(own)
  return entries.filter(({ parentPath }) => parentPath !== own).map(({ name }) => name)
}
