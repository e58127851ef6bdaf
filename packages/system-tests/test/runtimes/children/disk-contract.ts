import { join } from 'node:path'
import { describeBlobStore } from '@holdfast/contract'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { findLitter } from '../../black-box/support/open-disk-store.ts'

// A full disk would want root, and has nothing to do with what runs the store.
describeBlobStore('the disk store', async () => {
  const place = await makeTemporaryDirectory()
  const directory = join(place.path, 'data')
  const store = await openDiskBlobStore({ directory })
  const stores = [store]
  return {
    store,
    openAgain: async () => {
      const another = await openDiskBlobStore({ directory })
      stores.push(another)
      return another
    },
    litter: () => findLitter(directory),
    heldResources: async () => (await openFilesIn(directory)).length,
    dispose: async () => {
      await Promise.all(stores.map((each) => each.close()))
      await place.remove()
    },
  }
})
