import fsp from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { findLitter } from '../disk-harness.ts'
import { injectFault, type Fault } from './injected-fault.ts'

/** What each error of the system means to whoever calls the store. */
export const meanings: Readonly<Record<string, string>> = {
  ENOSPC: 'insufficient-storage',
  EDQUOT: 'insufficient-storage',
  EFBIG: 'file-too-large',
  EROFS: 'store-unavailable',
  ESTALE: 'store-unavailable',
  EMFILE: 'store-unavailable',
  ENFILE: 'store-unavailable',
  EIO: 'EIO',
  EACCES: 'EACCES',
  EPERM: 'EPERM',
}

/** How many faults were injected so far. */
export const figures = { faults: 0 }

/** A store with a blob, on a disk that can be made to fail. */
export interface FaultSite {
  readonly store: DiskBlobStore
  readonly data: string
  /**
   * Has `work` run into the fault, and resolves with its error. By then the store holds no file open, and has not
   * synced any descriptor twice.
   */
  fail(fault: Fault, work: () => Promise<unknown>): Promise<unknown>
  [Symbol.asyncDispose](): Promise<void>
}

/** On a disk of this machine, as far as the store knows, or on one that is anywhere. */
export type Whereabouts = 'here' | 'anywhere'

export async function openFaultSite(whereabouts: Whereabouts = 'here'): Promise<FaultSite> {
  const place = await makeTemporaryDirectory()
  const data = join(place.path, 'data')
  using _ = whereabouts === 'anywhere' ? takeForRemote() : undefined
  const store = await openDiskBlobStore({ directory: data, names: 'plain' })
  return {
    store,
    data,
    async fail(fault, work) {
      const title = `${fault.call}: ${fault.code}`
      using injected = await injectFault(data, fault)
      const error = await work().then(
        () => expect.fail(`${title}: succeeded`),
        (failure: unknown) => failure,
      )
      expect(injected.hits(), title).to.be.at.least(1)
      expect(injected.syncs(), `${title}: syncs of one descriptor`).to.be.at.most(1)
      expect(await openFilesIn(data), title).to.deep.equal([])
      figures.faults++
      return error
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** Has every file system say that it is NFS. */
function takeForRemote(): Disposable {
  const original = Reflect.get(fsp, 'statfs')
  Reflect.set(fsp, 'statfs', async () => ({ type: 0x6969 }))
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      Reflect.set(fsp, 'statfs', original)
      syncBuiltinESMExports()
    },
  }
}

/** Fails unless `error` is what `code` of the system means, with the system's error as its cause. */
export function expectMeaning(error: unknown, { call, code }: Fault): void {
  const meaning = meanings[code] ?? code
  expect(error, call).to.have.property('code', meaning)
  if (meaning !== code) expect(error, call).to.have.nested.property('cause.code', code)
}

export async function expectNoLitter(data: string, title: string): Promise<void> {
  expect(await findLitter(data), title).to.deep.equal([])
}

export async function* text(content: string) {
  yield Buffer.from(content)
}

/** The content of a blob; `undefined` if there is none. */
export async function contentOf(store: DiskBlobStore, key: { customer: string; name: string }) {
  const blob = await store.open(key)
  if (!blob) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
