import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { renameSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn, rejection } from '@holdfast/testing'
import type { BlobInfo, Expiry } from '@holdfast/core'
import { expect } from 'chai'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { contentOf, expectMeaning, meanings, openFaultSite, text } from '../faults/fault-site.ts'
import { findLitter } from '../disk-harness.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'

const key = { customer: 'alice', name: 'a' }
const script = join(import.meta.dirname, '..', 'children', 'expire-and-die.ts')

function expiryOf({ expiry }: { expiry?: Expiry }): Expiry {
  if (expiry) return expiry
  throw new Error('There is no expiry')
}

/** Runs `use` on a store whose blob `a` has the content "old". */
async function onSite(
  use: (site: {
    store: DiskBlobStore
    directory: string
    blob: BlobInfo
    replace: () => void
  }) => Promise<void>,
): Promise<void> {
  await using place = await makeTemporaryDirectory()
  const directory = join(place.path, 'data')
  const store = await openDiskBlobStore({ directory })
  const blob = await store.put(key, text('old'))
  const replace = () => {
    writeFileSync(join(place.path, 'new'), 'new')
    renameSync(join(place.path, 'new'), join(directory, 'files', 'alice', 'a'))
  }
  await use({ store, directory, blob, replace })
  await store.close()
}

describe('expiry of openDiskBlobStore', function () {
  this.timeout(60_000)

  const ends = {
    'rename-noted': 'old',
    'first-name-moved-away': undefined,
    'removal-synced': undefined,
  }
  for (const [step, expected] of Object.entries(ends)) {
    it(`leaves the file or nothing, and no litter, after a process is killed at ${step}`, () =>
      onSite(async ({ directory }) => {
        const child = spawn(process.execPath, [script, directory, step], { stdio: 'inherit' })
        expect((await once(child, 'exit'))[1]).to.equal('SIGKILL')
        const next = await openDiskBlobStore({ directory })
        expect(await contentOf(next, key)).to.equal(expected)
        await next.close()
        expect(await findLitter(directory)).to.deep.equal([])
      }))
  }

  it('gives back, after a crash, what was put while the name was moved away', () =>
    onSite(async ({ store, directory }) => {
      const [replacement, target] = ['new', 'files/alice/a'].map((path) => join(directory, path))
      await writeFile(replacement ?? '', 'new')
      const args = [script, directory, 'first-name-moved-away', replacement ?? '', target ?? '']
      const child = spawn(process.execPath, args, { stdio: 'inherit' })
      expect((await once(child, 'exit'))[1]).to.equal('SIGKILL')
      expect(await contentOf(store, key)).to.equal(undefined)
      const next = await openDiskBlobStore({ directory })
      expect(await contentOf(store, key)).to.equal('new')
      await next.close()
      await rm(replacement ?? '', { force: true })
      expect(await findLitter(directory)).to.deep.equal([])
    }))

  it('gives back what is put at the last moment, and says that nothing is deleted', () =>
    onSite(async ({ store, directory, blob, replace }) => {
      let isDone = false
      using _ = await interceptFileCalls({
        before({ name, args }) {
          if (isDone || name !== 'rename' || !String(args[1]).endsWith('.away')) return
          isDone = true
          replace()
        },
      })
      expect(await expiryOf(store).deleteUnchanged('alice', blob)).to.equal(false)
      expect(isDone).to.equal(true)
      expect(await contentOf(store, key)).to.equal('new')
      expect(await findLitter(directory)).to.deep.equal([])
    }))

  /** Has a file put at the last moment; the disk fails while it is given back, and until the result is disposed of. */
  const strand = async (removal: () => Promise<unknown>, replace: () => void) => {
    let isDone = false
    const failing = await interceptFileCalls({
      before({ name, args }) {
        if (name === 'link' && String(args[0]).endsWith('.away')) {
          throw Object.assign(new Error('fails'), { code: 'EIO' })
        }
        if (isDone || name !== 'rename' || !String(args[1]).endsWith('.away')) return
        isDone = true
        replace()
      },
    })
    expect(await rejection(removal())).to.be.instanceOf(Error)
    expect(isDone).to.equal(true)
    return failing
  }

  it('gives back at the next removal what a failing disk did not let it give back', () =>
    onSite(async ({ store, directory, blob, replace }) => {
      const expiry = expiryOf(store)
      const removal = async () => expiry.deleteUnchanged('alice', blob)
      const failing = await strand(removal, replace)
      const early = await store.put({ customer: 'alice', name: 'b' }, text('other'))
      expect(await expiry.deleteUnchanged('alice', early)).to.equal(true)
      expect(await contentOf(store, key)).to.equal(undefined)
      failing[Symbol.dispose]()
      const other = await store.put({ customer: 'alice', name: 'b' }, text('other'))
      expect(await expiry.deleteUnchanged('alice', other)).to.equal(true)
      expect(await contentOf(store, key)).to.equal('new')
      expect(await findLitter(directory)).to.deep.equal([])
    }))

  it('gives it back when the store closes', () =>
    onSite(async ({ store, directory, blob, replace }) => {
      const removal = async () => expiryOf(store).deleteUnchanged('alice', blob)
      const failing = await strand(removal, replace)
      failing[Symbol.dispose]()
      await store.close()
      expect(await readFile(join(directory, 'files', 'alice', 'a'), 'utf8')).to.equal('new')
      expect(await findLitter(directory)).to.deep.equal([])
    }))

  it('leaves it to the next process where the disk fails until the end', () =>
    onSite(async ({ store, directory, blob, replace }) => {
      const removal = async () => expiryOf(store).deleteUnchanged('alice', blob)
      using _ = await strand(removal, replace)
      await store.close()
      const kept = (await findLitter(directory)).map((path) => extname(path))
      expect(kept).to.have.members(['.rename', '.away'])
    }))

  it('takes nothing for a blob that is none', () =>
    onSite(async ({ store, directory, blob }) => {
      const expiry = expiryOf(store)
      expect(await expiry.deleteUnchanged('bob', blob)).to.equal(false)
      expect(await expiry.deleteUnchanged('alice', { ...blob, name: 'b' })).to.equal(false)
      expect(await readdir(join(directory, 'files'))).to.deep.equal(['alice'])
    }))

  it('keeps the file, without litter, where the disk fails before the name is moved', async () => {
    await using site = await openFaultSite()
    const { store, data } = site
    const expiry = expiryOf(store)
    const failing = ['open blob', 'symlink other', 'sync temporary', 'open customer', 'rename blob']
    for (const call of failing) {
      for (const code of Object.keys(meanings)) {
        const blob = await store.put(key, text('old'))
        const fault = { call, code }
        expectMeaning(await site.fail(fault, () => expiry.deleteUnchanged('alice', blob)), fault)
        expect(await contentOf(store, key), call).to.equal('old')
        expect(await findLitter(data), call).to.deep.equal([])
      }
    }
    expect(await openFilesIn(data)).to.deep.equal([])
  })
})
