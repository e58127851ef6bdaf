import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import type { BlobStoreHarness } from '@holdfast/contract'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { createEncryptedBlobStore } from '../src/encrypted-blob-store.ts'

/** An encrypted store on a disk store in a directory of its own. */
export async function openHarness(): Promise<BlobStoreHarness> {
  const directory = await mkdtemp(join(tmpdir(), 'encrypted-store-'))
  const masterKey = randomBytes(32)
  const disks: { close(): Promise<void> }[] = []
  const openAgain = async () => {
    const disk = await openDiskBlobStore({ directory })
    disks.push(disk)
    return createEncryptedBlobStore(disk, masterKey)
  }
  return {
    store: await openAgain(),
    openAgain,
    // Each open store has a directory there; what is in one is an upload under way.
    async litter() {
      const entries = await readdir(join(directory, 'tmp'), { recursive: true })
      return entries.filter((entry) => entry.includes(sep))
    },
    heldResources: async () => (await openFilesBelow(directory)).length,
    async dispose() {
      await Promise.all(disks.map((disk) => disk.close()))
      await rm(directory, { recursive: true })
    },
  }
}

/** What this process has open in `directory`; Linux only. */
async function openFilesBelow(directory: string): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd')
  const links = descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(directory))
}
