import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { BlobStoreHarness } from '@holdfast/contract'
import { makeTemporaryDirectory, openFilesIn, type TemporaryDirectory } from '@holdfast/testing'
import { openDiskBlobStore, type DiskBlobStoreOptions } from '../src/disk-blob-store.ts'

/** A store in `place`, which is removed with it. */
export async function openDiskHarness(
  options: Omit<DiskBlobStoreOptions, 'directory'> = {},
  place?: TemporaryDirectory,
): Promise<BlobStoreHarness> {
  const used = place ?? (await makeTemporaryDirectory())
  const directory = join(used.path, 'data')
  const stores = [await openDiskBlobStore({ directory, ...options })]
  return {
    store: stores[0]!,
    openAgain: async () => {
      const another = await openDiskBlobStore({ directory })
      stores.push(another)
      return another
    },
    litter: () => findLitter(directory),
    heldResources: async () => (await openFilesIn(directory)).length,
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()))
      await used[Symbol.asyncDispose]()
    },
  }
}

/** Everything in the data directory that is not a blob, the marker, or an empty directory of an open store or of uploads. */
export async function findLitter(directory: string): Promise<string[]> {
  const top = (await readdir(directory)).filter(
    (entry) =>
      !['files', 'expiry', 'links', 'tmp', 'uploads', 'versions', 'holdfast.json'].includes(entry),
  )
  const uploads = await readdir(join(directory, 'uploads'), {
    recursive: true,
    withFileTypes: true,
  }).catch(() => [])
  const unfinished = uploads.filter((entry) => !entry.isDirectory())
  const temporary = await readdir(join(directory, 'tmp'), { recursive: true })
  return [
    ...top,
    ...unfinished.map(({ name }) => name),
    ...temporary.filter((entry) => entry.includes(sep)),
  ]
}
