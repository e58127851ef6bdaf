import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import type { BlobStore } from '@holdfast/core'
import { openDiskBlobStore } from '@holdfast/store-disk'

/** A store to fuzz with, and what is to be seen in it when nobody is uploading. */
export interface FuzzStore {
  readonly store: BlobStore
  /** Throws when temporary files are left. */
  readonly expectTidy?: () => Promise<void>
  readonly close?: () => Promise<void>
}

/** A store in a temporary directory of its own. */
export async function openFuzzDisk(names: 'plain' | 'escaped'): Promise<FuzzStore> {
  const place = await mkdtemp(join(tmpdir(), 'holdfast-fuzz-'))
  const directory = join(place, 'data')
  const store = await openDiskBlobStore({ directory, names })
  return {
    store,
    async expectTidy() {
      const found = await readdir(join(directory, 'tmp'), { recursive: true })
      const files = found.filter((entry) => entry.includes(sep))
      if (files.length > 0) throw new Error(`Temporary files are left: ${files.join(', ')}`)
    },
    async close() {
      await store.close()
      await rm(place, { recursive: true })
    },
  }
}
