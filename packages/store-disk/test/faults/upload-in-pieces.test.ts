import type { UploadKey } from '@holdfast/core'
import { bytesAt, piece } from '@holdfast/testing'
import { expect } from 'chai'
import type { DiskBlobStore } from '../../src/disk-blob-store.ts'
import { openDiskHarness } from '../disk-harness.ts'
import { openFullDisk } from '../full-disk.ts'
import {
  contentOf,
  expectMeaning,
  expectNoLitter,
  openFaultSite,
  type FaultSite,
} from './fault-site.ts'

const codes = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE']
const before = 70_000

const looking = ['open record', 'stat record', 'read record', 'lstat content']

const appending = [
  ...looking,
  'rename content',
  'open content',
  'stat content',
  'write content',
  'datasync content',
  'open upload',
  'sync upload',
]

const publishing = [
  ...looking,
  'rename content',
  'open content',
  'utimes content',
  'sync content',
  'open temporary',
  'write temporary',
  'sync temporary',
  'open upload',
  'sync upload',
  'open customer',
]

const beginning = ['open temporary', 'write temporary', 'sync temporary', 'open uploader']

describe('resumable of openDiskBlobStore, where a call fails,', function () {
  this.timeout(120_000)

  for (const call of appending) {
    it(`keeps in an append what was acknowledged where "${call}" fails, and goes on`, async () => {
      await using site = await openFaultSite()
      for (const code of codes) {
        const key = await beginWith(site.store, before)
        const append = () => site.store.resumable.append(key, before, piece(before, 10))
        expectMeaning(await site.fail({ call, code }, append), { call, code })
        expect((await site.store.resumable.state(key))?.offset, code).to.equal(before)
        await finish(site.store, key)
      }
      await site.store.resumable.sweep(new Date(Date.now() + 1e9))
      await expectNoLitter(site.data, call)
    })
  }

  for (const call of publishing) {
    it(`keeps the upload where "${call}" fails in publishing it, and publishes it later`, async () => {
      await using site = await openFaultSite()
      await site.store.put({ customer: 'alice', name: 'a' }, piece(0, 3))
      for (const code of codes) {
        const key = await beginWith(site.store, before)
        const blob = await contentOf(site.store, { customer: 'alice', name: 'a' })
        const publish = () => site.store.resumable.publish(key)
        expectMeaning(await site.fail({ call, code }, publish), { call, code })
        expect(await contentOf(site.store, { customer: 'alice', name: 'a' })).to.equal(blob)
        expect((await site.store.resumable.state(key))?.published).to.equal(undefined)
        await finish(site.store, key)
      }
      await site.store.resumable.sweep(new Date(Date.now() + 1e9))
      await expectNoLitter(site.data, call)
    })
  }

  for (const call of beginning) {
    it(`leaves nothing of an upload where "${call}" fails in beginning it`, async () => {
      await using site = await openFaultSite()
      await beginWith(site.store, 0)
      await site.store.resumable.sweep(new Date(Date.now() + 1e9))
      for (const code of codes) {
        const begin = () => beginWith(site.store, 0)
        expectMeaning(await site.fail({ call, code }, begin), { call, code })
        await expectNoLitter(site.data, code)
      }
    })
  }

  it('refuses to begin what is longer than what is free, and gives back what did not fit', async () => {
    const harness = await openDiskHarness({ names: 'plain' }, await openFullDisk())
    try {
      const { resumable } = harness.store as DiskBlobStore
      const plan = { name: 'a', expiresAfterMs: 3_600_000 }
      const refused = async (work: Promise<unknown>) => {
        const error = await work.catch((reason: unknown) => reason)
        expect(error).to.have.property('code', 'insufficient-storage')
      }
      await refused(resumable.begin('alice', { ...plan, length: 2 ** 50 }))
      const { id } = await resumable.begin('alice', plan)
      await refused(resumable.append({ customer: 'alice', id }, 0, piece(0, 20 * MiB)))
      const { id: another } = await resumable.begin('bob', { ...plan, length: 6 * MiB })
      const key = { customer: 'bob', id: another }
      await resumable.append(key, 0, piece(0, 6 * MiB))
      await resumable.publish(key)
    } finally {
      await harness.dispose()
    }
  })
})

const MiB = 1024 * 1024

async function beginWith({ resumable }: FaultSite['store'], bytes: number): Promise<UploadKey> {
  const { id } = await resumable.begin('alice', { name: 'a', expiresAfterMs: 3_600_000 })
  const key = { customer: 'alice', id }
  if (bytes > 0) await resumable.append(key, 0, piece(0, bytes))
  return key
}

async function finish(store: DiskBlobStore, key: UploadKey): Promise<void> {
  await store.resumable.append(key, before, piece(before, 10))
  await store.resumable.publish(key)
  const content = await contentOf(store, { customer: 'alice', name: 'a' })
  expect(content).to.equal(bytesAt(0, before + 10).toString())
}
