import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { UploadKey, UploadPlan } from '@holdfast/core'
import { piece } from '@holdfast/testing'
import type { DiskBlobStore } from '../../src/disk-blob-store.ts'
import { identifyProcess, tempDirectoryName } from '../../src/temp/temp-owner.ts'

export type UploadWork =
  | 'begin'
  | 'append'
  | 'append-much'
  | 'append-the-rest'
  | 'append-all-or-nothing'
  | 'append-after-a-silent-owner'
  | 'remember'
  | 'declare-length'
  | 'publish'
  | 'publish-complete'
  | 'publish-as-new'
  | 'discard'
  | 'sweep'

export interface Work {
  /** What the upload begins with. Default: an hour, replace. */
  readonly plan?: Partial<UploadPlan>
  /** Bytes that have been acknowledged before. */
  readonly before: number
  /** Bytes that the work adds. */
  readonly adds: number
  readonly prepare?: (uploadDirectory: string) => Promise<void>
  readonly run: (store: DiskBlobStore, key: UploadKey) => Promise<unknown>
}

const KiB = 1024
const MiB = 1024 * KiB

function append(before: number, adds: number, allOrNothing = false): Work {
  return {
    before,
    adds,
    run: (store, key) => store.resumable.append(key, before, piece(before, adds), { allOrNothing }),
  }
}

/** Everything that is done with uploads, for processes that die meanwhile. */
export const uploadWorks: Readonly<Record<UploadWork, Work>> = {
  begin: {
    before: 0,
    adds: 0,
    run: (store) => store.resumable.begin('alice', { name: 'begun', expiresAfterMs: 3_600_000 }),
  },
  append: append(100 * KiB, 70 * KiB),
  'append-much': append(0, 33 * MiB),
  'append-the-rest': { ...append(3 * KiB, 70 * KiB), plan: { length: 73 * KiB } },
  'append-all-or-nothing': append(10, 70 * KiB, true),
  'append-after-a-silent-owner': {
    ...append(3 * KiB, 5),
    prepare: async (directory) => {
      const names = await readdir(directory)
      const content = names.find((name) => name.startsWith('bytes-')) ?? ''
      const owner = tempDirectoryName({ ...identifyProcess(), pidNamespace: 1 }, 'abc')
      await rename(join(directory, content), join(directory, `${content}=${owner}`))
    },
  },
  remember: {
    before: 0,
    adds: 0,
    async run(store) {
      const published = { name: 'a', size: 3, modifiedAt: new Date(), etag: 'x' }
      await store.resumable.remember('alice', { name: 'a', expiresAfterMs: 3_600_000 }, published)
    },
  },
  'declare-length': {
    before: 5,
    adds: 0,
    run: (store, key) => store.resumable.declareLength(key, 5),
  },
  publish: { before: 70_000, adds: 0, run: (store, key) => store.resumable.publish(key) },
  'publish-complete': {
    before: 70_000,
    adds: 0,
    plan: { length: 70_000 },
    run: (store, key) => store.resumable.publish(key),
  },
  'publish-as-new': {
    before: 100,
    adds: 0,
    plan: { createOnly: true },
    run: (store, key) => store.resumable.publish(key),
  },
  discard: { before: 70_000, adds: 0, run: (store, key) => store.resumable.discard(key) },
  sweep: {
    before: 70_000,
    adds: 0,
    run: (store) => store.resumable.sweep(new Date(Date.now() + 24 * 3_600_000)),
  },
}
