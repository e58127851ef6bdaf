import { readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, piece } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { collect } from '../collect.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'
import { systemError } from '../full-disk.ts'

const key = { customer: 'alice', name: 'a' }
const plan = { name: 'a', expiresAfterMs: 3_600_000 }

/** A store in which alice has a blob, and an upload that was remembered. */
async function openSite() {
  const place = await makeTemporaryDirectory()
  const store = await openDiskBlobStore({ directory: place.path })
  const info = await store.put(key, piece(0, 10))
  const { id } = await store.resumable.remember('alice', plan, info)
  const uploads = join(place.path, 'uploads', 'alice')
  return {
    place: place.path,
    ...{ store, info, uploads, path: join(uploads, id), upload: { customer: 'alice', id } },
    async [Symbol.asyncDispose]() {
      await store.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

describe('resumable.remember of openDiskBlobStore', () => {
  it('syncs nothing', async () => {
    await using site = await openSite()
    const syncs: string[] = []
    using _ = await interceptFileCalls({
      before({ name }) {
        if (name.includes('sync')) syncs.push(name)
      },
    })
    const { id } = await site.store.resumable.remember('alice', plan, site.info)
    expect(syncs).to.deep.equal([])
    const state = await site.store.resumable.state({ customer: 'alice', id })
    expect(state).to.deep.include({ plan, published: site.info })
  })

  for (const name of ['open', 'write', 'rename']) {
    it(`resolves where "${name}" fails, and leaves nothing then`, async () => {
      await using site = await openSite()
      const before = await readdir(site.uploads)
      using _ = await interceptFileCalls({
        before(call) {
          if (call.name === name) throw systemError('ENOSPC', name)
        },
      })
      const { id } = await site.store.resumable.remember('alice', plan, site.info)
      expect(id).to.match(/^[0-9a-f]{32}$/)
      expect(await readdir(site.uploads)).to.deep.equal(before)
    })
  }

  it('is not read to list what is unfinished, but once by another opening', async () => {
    await using site = await openSite()
    const { resumable } = site.store
    await resumable.begin('alice', plan)
    const again = await openDiskBlobStore({ directory: site.place })
    const read: string[] = []
    using _ = await interceptFileCalls({
      before({ name, path }) {
        if (name === 'open' && path.startsWith(site.path)) read.push(path)
      },
    })
    expect((await collect(resumable.list('alice'))).flat()).to.have.length(1)
    expect(read, 'by itself').to.deep.equal([])
    for (const _time of [1, 2, 3]) await collect(again.resumable.list('alice'))
    expect(read, 'by another one').to.deep.equal([site.path])
    await again.close()
  })

  /** What a power cut may leave, since nothing was synced. */
  const remains: Readonly<Record<string, (path: string) => Promise<void>>> = {
    'an empty record': (path) => truncate(path, 0),
    'half of the record': (path) => truncate(path, 30),
    'zeros in place of the record': (path) => writeFile(path, Buffer.alloc(100)),
  }
  for (const [what, leave] of Object.entries(remains)) {
    it(`takes ${what} for an upload that has expired`, async () => {
      await using site = await openSite()
      await leave(site.path)
      const { resumable } = site.store
      expect(await resumable.state(site.upload)).to.equal(undefined)
      expect(await resumable.discard(site.upload)).to.equal(false)
      expect(await collect(resumable.list('alice'))).to.deep.equal([])
      expect(await resumable.sweep(new Date()), 'removed').to.equal(0)
      expect(await readdir(site.uploads)).to.deep.equal([])
      expect(await site.store.stat(key)).to.deep.equal(site.info)
    })
  }
})

describe('resumable.sweep of openDiskBlobStore', () => {
  it('goes on after an upload that cannot be read, and rejects with its error', async () => {
    await using site = await openSite()
    const { resumable } = site.store
    const begin = async (customer: string) => (await resumable.begin(customer, plan)).id
    const damaged = await begin('alice')
    const others = { alice: await begin('alice'), bob: await begin('bob') }
    await writeFile(join(site.uploads, damaged, 'upload.json'), '{')
    const later = new Date(Date.now() + 2 * plan.expiresAfterMs)
    const error = await resumable.sweep(later).catch((failure: unknown) => failure)
    expect(String(error)).to.include('is damaged')
    for (const [customer, id] of Object.entries(others)) {
      expect(await readdir(join(site.place, 'uploads', customer))).not.to.include(id)
    }
  })
})
