import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { isFileServiceError } from '@holdfast/core'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { collect } from '../collect.ts'
import { contentOf, expectNoLitter, openFaultSite, text } from './fault-site.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const missing = { customer: 'alice', name: 'missing' }
const stranger = { customer: 'bob', name: 'any' }

/** A store with a blob, whose directory can be moved away as an unmounted file system is. */
async function openMovable() {
  const site = await openFaultSite()
  await site.store.put(key, text('content'))
  const away = `${site.data}.away`
  return {
    ...site,
    moveAway: async () => {
      await rename(site.data, away)
      await mkdir(site.data)
    },
    /** Without what has come in its place. */
    moveBack: async () => {
      await rm(site.data, { recursive: true })
      await rename(away, site.data)
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  }
}

async function expectUnavailable(store: DiskBlobStore): Promise<void> {
  const attempts: Readonly<Record<string, Promise<unknown>>> = {
    put: store.put(key, text('new')),
    create: store.put(key, text('new'), { createOnly: true }),
    'put of a stranger': store.put(stranger, text('new')),
    open: store.open(key),
    stat: store.stat(key),
    delete: store.delete(key),
    list: collect(store.list('alice')),
    usage: store.usage('alice'),
    customers: collect(store.customers()),
  }
  const outcomes = await Promise.allSettled(Object.values(attempts))
  for (const [index, title] of Object.keys(attempts).entries()) {
    expect(outcomes[index], title).to.have.nested.property('reason.code', 'store-unavailable')
  }
}

async function expectWorking(store: DiskBlobStore): Promise<void> {
  expect(await contentOf(store, key)).to.equal('content')
  expect(await store.stat(missing)).to.equal(undefined)
  await store.put(stranger, text('new'))
  expect(await collect(store.customers())).to.deep.equal(['alice', 'bob'])
}

describe('A store whose directory', () => {
  it('is gone, is unavailable and not empty, makes nothing in its place, and works when it is back', async () => {
    await using site = await openMovable()
    await site.moveAway()
    await expectUnavailable(site.store)
    expect(await readdir(site.data)).to.deep.equal([])
    await rm(site.data, { recursive: true })
    await expectUnavailable(site.store)
    await mkdir(site.data)
    await site.moveBack()
    await expectWorking(site.store)
    await expectNoLitter(site.data, 'afterwards')
  })

  it('goes during a put, does not store it, nor makes anything in its place', async () => {
    for (const at of [key, stranger]) {
      await using site = await openMovable()
      async function* content() {
        yield Buffer.from('half')
        await site.moveAway()
      }
      const error = await site.store.put(at, content()).catch((failure: unknown) => failure)
      expect(isFileServiceError(error, 'store-unavailable'), String(error)).to.equal(true)
      expect(await readdir(site.data)).to.deep.equal([])
      await site.moveBack()
      await expectWorking(site.store)
    }
  })

  it('has another store in its place, does not take that for its own', async () => {
    await using site = await openMovable()
    await site.moveAway()
    const other = await openDiskBlobStore({ directory: site.data, names: 'plain' })
    await other.put({ ...key, name: 'theirs' }, text('theirs'))
    await expectUnavailable(site.store)
    expect(await collect(other.customers())).to.deep.equal(['alice'])
    await other.close()
    await site.moveBack()
    await expectWorking(site.store)
  })

  it('has a copy in its place, such as a restored backup, goes on with that', async () => {
    await using site = await openMovable()
    await site.moveAway()
    for (const part of ['holdfast.json', 'files']) {
      await cp(join(`${site.data}.away`, part), join(site.data, part), { recursive: true })
    }
    await expectWorking(site.store)
    await expectNoLitter(site.data, 'afterwards')
  })

  it('has lost all files, is unavailable', async () => {
    await using site = await openMovable()
    const files = join(site.data, 'files')
    await rename(files, `${files}.away`)
    await expectUnavailable(site.store)
    await rename(`${files}.away`, files)
    await expectWorking(site.store)
  })

  it('has lost its temporary files, fails a put under way, and makes them anew', async () => {
    await using site = await openMovable()
    const tmp = join(site.data, 'tmp')
    async function* content() {
      yield Buffer.from('half')
      await rm(tmp, { recursive: true })
    }
    const error = await site.store.put(key, content()).catch((failure: unknown) => failure)
    expect(error).to.have.property('code', 'ENOENT')
    await expectWorking(site.store)
  })

  it('has lost its temporary files, still renames', async () => {
    for (const options of [{}, { createOnly: true }, { keepReplaced: true }]) {
      await using site = await openMovable()
      await rm(join(site.data, 'tmp'), { recursive: true })
      await site.store.rename?.(key, 'renamed', options)
      expect((await collect(site.store.list('alice'))).flat()).to.deep.equal(['renamed'])
    }
  })
})
