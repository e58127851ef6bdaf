import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { BlobStoreHarness } from '@holdfast/contract'
import { openSqliteBlobStore } from '../src/sqlite-blob-store.ts'

/** A harness with a store of its own, which may grow to `maxBytes`. */
export async function openHarness(maxBytes?: number): Promise<BlobStoreHarness> {
  const directory = await mkdtemp(join(tmpdir(), 'sqlite-blob-store-'))
  const path = join(directory, 'blobs.db')
  const first = openSqliteBlobStore(path, maxBytes)
  const stores = [first]
  return {
    store: first,
    async openAgain() {
      const another = openSqliteBlobStore(path, maxBytes)
      stores.push(another)
      return another
    },
    litter: async () => unpublishedVersions(path),
    heldResources: async () => stores.reduce((sum, store) => sum + store.openBlobs(), 0),
    async dispose() {
      for (const store of stores) store.close()
      await rm(directory, { recursive: true })
    },
  }
}

// With a connection of its own: it reads the data and does not ask the store.
function unpublishedVersions(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database
    .prepare(
      'SELECT version FROM upload UNION SELECT version FROM piece EXCEPT SELECT version FROM blob',
    )
    .all()
  database.close()
  return rows.map((row) => `version ${String(row.version)}`)
}
