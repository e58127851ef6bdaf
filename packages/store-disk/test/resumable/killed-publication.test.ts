import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { makeTemporaryDirectory, bytesAt, piece } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'

const script = join(import.meta.dirname, '..', 'children', 'publish-and-die.ts')
const blob = { customer: 'alice', name: 'a' }

const changes: Readonly<Record<string, (store: DiskBlobStore) => Promise<unknown>>> = {
  deleted: (store) => store.delete(blob),
  'replaced, and deleted': async (store) => {
    await store.put(blob, piece(7, 5))
    await store.delete(blob)
  },
  renamed: async (store) => store.rename?.(blob, 'b'),
  'renamed, create-only': async (store) => store.rename?.(blob, 'b', { createOnly: true }),
  'replaced by a renamed one, and deleted': async (store) => {
    await store.put({ ...blob, name: 'b' }, piece(7, 5))
    await store.rename?.({ ...blob, name: 'b' }, 'a')
    await store.delete(blob)
  },
  'replaced by an upload in pieces, and deleted': async (store) => {
    const { id } = await store.resumable.begin('alice', { name: 'a', expiresAfterMs: 3_600_000 })
    await store.resumable.append({ customer: 'alice', id }, 0, piece(7, 5))
    await store.resumable.publish({ customer: 'alice', id })
    await store.delete(blob)
  },
}

describe('resumable of openDiskBlobStore, killed when a create-only file has its name', function () {
  this.timeout(60_000)

  /** Begins an upload and has a process publish it that is killed. */
  async function publishAndDie(directory: string, store: DiskBlobStore): Promise<string> {
    const plan = { name: 'a', createOnly: true, expiresAfterMs: 3_600_000 }
    const { id } = await store.resumable.begin('alice', plan)
    await store.resumable.append({ customer: 'alice', id }, 0, piece(0, 10))
    const child = spawn(process.execPath, [script, directory, id], { stdio: 'inherit' })
    expect((await once(child, 'exit'))[1]).to.equal('SIGKILL')
    return id
  }

  for (const [what, change] of Object.entries(changes)) {
    it(`does not bring it back once it is ${what}`, async () => {
      await using place = await makeTemporaryDirectory()
      const store = await openDiskBlobStore({ directory: place.path })
      const id = await publishAndDie(place.path, store)
      await change(store)
      const published = await store.resumable.publish({ customer: 'alice', id })
      expect(published).to.deep.include({ name: 'a', size: 10 })
      expect(await store.stat(blob)).to.equal(undefined)
      await store.close()
    })
  }

  it('gives the same answer while it is there', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: place.path })
    const id = await publishAndDie(place.path, store)
    const info = await store.resumable.publish({ customer: 'alice', id })
    expect(await store.stat(blob)).to.deep.equal(info)
    const read = await store.open(blob)
    const chunks: Uint8Array[] = []
    for await (const chunk of read?.content ?? []) chunks.push(chunk)
    expect(Buffer.concat(chunks).equals(bytesAt(0, 10))).to.equal(true)
    await store.close()
  })
})
