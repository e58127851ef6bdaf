import { execFile } from 'node:child_process'
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { BlobKey, KeptBlob } from '@holdfast/core'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { diskCrashPoints, diskHistoryCrashPoints } from '../../src/files/crash-point.ts'
import { openDataDirectory } from '../../src/directory/data-directory.ts'
import { createVersionNames } from '../../src/history/version-names.ts'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { findLitter } from '../disk-harness.ts'
import { expectMeaning, openFaultSite, text } from '../faults/fault-site.ts'
import { injectFull } from '../full-disk.ts'
import { changes, stored } from './changes.ts'

const key = { customer: 'alice', name: 'a' }
const keep = { keepReplaced: true }
const run = promisify(execFile)
const script = (name: string) => join(import.meta.dirname, '..', 'children', name)

async function onStore(
  use: (store: DiskBlobStore, directory: string) => Promise<void>,
): Promise<void> {
  await using place = await makeTemporaryDirectory()
  const directory = join(place.path, 'data')
  const store = await openDiskBlobStore({ directory })
  try {
    await use(store, directory)
  } finally {
    await store.close()
  }
}

function historyOf({ history }: DiskBlobStore) {
  if (history) return history
  throw new TypeError('The disk store has a history')
}

async function keptOf(store: DiskBlobStore, of: BlobKey): Promise<readonly KeptBlob[]> {
  const kept: KeptBlob[] = []
  for await (const page of historyOf(store).versions(of)) kept.push(...page)
  return kept
}

/** The contents of alice's blobs, and all that is kept of them. */
async function contentsOf(store: DiskBlobStore): Promise<string[]> {
  const contents: string[] = []
  const read = async (content: AsyncIterable<Uint8Array> | undefined) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of content ?? []) chunks.push(chunk)
    contents.push(Buffer.concat(chunks).toString())
  }
  for await (const page of store.list('alice')) {
    for (const name of page) await read((await store.open({ customer: 'alice', name }))?.content)
  }
  const history = historyOf(store)
  for await (const page of history.kept('alice')) {
    for (const { name, version } of page) {
      await read((await history.open({ customer: 'alice', name, version }))?.content)
    }
  }
  return contents
}

describe('history of openDiskBlobStore', () => {
  it('keeps each version as a file that its time and number name', () =>
    onStore(async (store, directory) => {
      await store.put(key, text('old'), keep)
      await store.put(key, text('new'), keep)
      const versions = join(directory, 'versions', 'alice', 'a')
      const [old, present] = (await readdir(versions)).sort()
      expect(old).to.match(/^\d{8}T\d{6}\.\d{9}Z-[0-9a-z]+$/)
      expect(await readFile(join(versions, old ?? ''), 'utf8')).to.equal('old')
      const { ino } = await lstat(join(directory, 'files', 'alice', 'a'))
      expect((await lstat(join(versions, present ?? ''))).ino).to.equal(ino)
      expect((await keptOf(store, key)).map(({ version }) => version)).to.deep.equal([old])
    }))

  it('makes no directory for customers who keep nothing', () =>
    onStore(async (store, directory) => {
      await store.put(key, text('old'))
      await store.put(key, text('new'))
      await store.delete(key)
      expect(await readdir(directory)).not.to.include('versions')
      expect(await keptOf(store, key)).to.deep.equal([])
    }))

  const losses = {
    deleted: (store: DiskBlobStore) => store.delete(key),
    replaced: (store: DiskBlobStore) => store.put(key, text('new')),
    renamed: (store: DiskBlobStore) => store.rename?.(key, 'b'),
    expired: async (store: DiskBlobStore) => {
      const info = (await store.stat(key)) ?? expect.fail()
      await store.expiry?.deleteUnchanged('alice', info)
    },
  }
  for (const [how, lose] of Object.entries(losses)) {
    it(`keeps no file that is ${how} once nothing is to be kept, and what was kept before stays`, () =>
      onStore(async (store, directory) => {
        await store.put(key, text('old'), keep)
        await store.put(key, text('present'), keep)
        await lose(store)
        expect(await readdir(join(directory, 'versions/alice/a'))).to.have.length(1)
        const kept = await keptOf(store, key)
        expect(kept.map(({ size }) => size)).to.deep.equal([3])
      }))
  }

  it('restores nothing for which the disk has no room, and writes nothing of it', async () => {
    await using place = await injectFull(await makeTemporaryDirectory())
    const directory = join(place.path, 'data')
    const store = await openDiskBlobStore({ directory })
    await store.put(key, text('old'), keep)
    // Longer than any disk, without a block.
    await truncate(join(directory, 'files/alice/a'), 2 ** 43)
    await store.delete(key, keep)
    const { version } = (await keptOf(store, key))[0] ?? expect.fail()
    const error = await historyOf(store)
      .restore({ ...key, version }, 'a')
      .catch((reason: unknown) => reason)
    expect(error).to.include({ code: 'insufficient-storage' }).and.not.have.property('cause')
    expect(await store.stat(key)).to.equal(undefined)
    await store.close()
  })

  for (const keepsOrder of [true, false]) {
    const where = keepsOrder ? '' : ', where the file system keeps no order'
    it(`keeps a file anew whose version names an administrator has removed${where}`, async () => {
      await using place = await makeTemporaryDirectory()
      const data = await openDataDirectory(place.path, 'plain', { warn() {} })
      const versionNames = createVersionNames({ ...data, keepsOrder })
      const path = data.layout.blobPath(key)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, 'content')
      await versionNames.give(key, path)
      await rm(join(place.path, 'versions/alice'), { recursive: true })
      await versionNames.ensure(key, path, await lstat(path, { bigint: true }))
      expect(await readdir(versionNames.directoryOf(key))).to.have.length(1)
      await data.tempDirectory.close()
    })
  }

  it('holds no file open of a version that it could not check', async () => {
    await using site = await openFaultSite()
    const content = async function* () {
      yield Buffer.alloc(200_000)
    }
    await site.store.put(key, content(), keep)
    await site.store.delete(key, keep)
    const [newest] = await keptOf(site.store, key)
    const version = newest?.version ?? ''
    await rename(join(site.data, 'holdfast.json'), join(site.data, 'away'))
    const opened = await historyOf(site.store)
      .open({ ...key, version })
      .catch(() => undefined)
    await opened?.close()
    await rename(join(site.data, 'away'), join(site.data, 'holdfast.json'))
    expect(await openFilesIn(site.data)).to.deep.equal([])
  })

  it('passes over what an administrator has put there', () =>
    onStore(async (store, directory) => {
      await store.put(key, text('old'), keep)
      await store.delete(key, keep)
      const versions = join(directory, 'versions', 'alice')
      await writeFile(join(versions, 'a', 'notes.txt'), 'x')
      await mkdir(join(versions, 'a', '20200101T000000.000000000Z-1'))
      await symlink('/etc/passwd', join(versions, 'a', '20200101T000000.000000000Z-2'))
      await writeFile(join(versions, 'file'), 'x')
      const history = historyOf(store)
      expect(await keptOf(store, key)).to.have.length(1)
      for (const version of ['20200101T000000.000000000Z-1', '20200101T000000.000000000Z-2']) {
        expect(await history.open({ ...key, version })).to.equal(undefined)
      }
      const removed = await history.purge('alice', new Date(Date.now() + 1000))
      expect(removed).to.deep.equal({ blobs: 1, bytes: 3 })
      expect(await readdir(join(versions, 'a'))).to.have.length(3)
    }))

  it('keeps a file that has further names, such as those of a snapshot', () =>
    onStore(async (store, directory) => {
      await store.put(key, text('old'), keep)
      await link(join(directory, 'files', 'alice', 'a'), join(directory, '..', 'snapshot'))
      await store.put(key, text('new'), keep)
      expect(await keptOf(store, key)).to.have.length(1)
      await historyOf(store).purge('alice', new Date(Date.now() + 1000))
      expect(await keptOf(store, key)).to.deep.equal([])
      expect(await contentsOf(store)).to.deep.equal(['new'])
    }))

  it('keeps the present file where a backup was restored without its hard links', () =>
    onStore(async (store, directory) => {
      await store.put(key, text('old'), keep)
      const versions = join(directory, 'versions', 'alice', 'a')
      const [version = ''] = await readdir(versions)
      await rm(join(versions, version))
      await writeFile(join(versions, version), 'old')
      await store.put(key, text('new'), keep)
      expect(await contentsOf(store)).to.include.members(['old', 'new'])
    }))

  it('purges all once where two servers purge at the same time', () =>
    onStore(async (store, directory) => {
      for (let index = 0; index < 200; index++) await store.put(key, text(`${index}`), keep)
      const other = await openDiskBlobStore({ directory })
      const before = new Date(Date.now() + 1000)
      const removed = await Promise.all(
        [store, other].map((one) => historyOf(one).purge('alice', before)),
      )
      expect(removed.reduce((sum, { blobs }) => sum + blobs, 0)).to.equal(199)
      expect(await contentsOf(store)).to.deep.equal(['199'])
      await other.close()
    }))

  it('leaves no directory of a name of which nothing is kept and stored', () =>
    onStore(async (store, directory) => {
      await store.put(key, text('old'), keep)
      await store.delete(key, keep)
      await historyOf(store).purge('alice', new Date(Date.now() + 1000))
      expect(await readdir(join(directory, 'versions', 'alice'))).to.deep.equal([])
      await store.put(key, text('new'), keep)
      await store.delete(key, keep)
      expect(await keptOf(store, key)).to.have.length(1)
    }))

  it('lists and purges thousands of versions of one name in bounded pages', function () {
    this.timeout(60_000)
    return onStore(async (store, directory) => {
      await store.put(key, text('present'), keep)
      const versions = join(directory, 'versions', 'alice', 'a')
      const made = 5_000
      for (let at = 0; at < made; at++) {
        const time = `20200101T000000.${String(at).padStart(9, '0')}Z`
        await writeFile(join(versions, `${time}-zz`), String(at))
      }
      const pages: number[] = []
      for await (const page of historyOf(store).versions(key)) pages.push(page.length)
      expect(Math.max(...pages)).to.be.at.most(1024)
      expect(pages.reduce((sum, length) => sum + length)).to.equal(made)
      const { blobs } = await historyOf(store).purge('alice', new Date(Date.now() + 1000))
      expect(blobs).to.equal(made)
      expect(await contentsOf(store)).to.deep.equal(['present'])
    })
  })
})

describe('history of openDiskBlobStore, on a failing disk,', () => {
  for (const call of ['link temporary', 'rename temporary']) {
    it(`keeps nothing of a put where "${call}" fails`, async () => {
      await using site = await openFaultSite()
      const { store } = site
      await store.put(key, text('old'), keep)
      const fault = { call, code: 'EIO' }
      expectMeaning(await site.fail(fault, () => store.put(key, text('new'), keep)), fault)
      expect(await contentsOf(store)).to.deep.equal(['old'])
      await store.put(key, text('newer'), keep)
      expect((await contentsOf(store)).sort()).to.deep.equal(['newer', 'old'])
    })
  }

  it('deletes nothing that it cannot keep', async () => {
    await using site = await openFaultSite()
    const { store } = site
    await store.put(key, text('old'))
    const fault = { call: 'link blob', code: 'EIO' }
    expectMeaning(await site.fail(fault, () => store.delete(key, keep)), fault)
    expectMeaning(await site.fail(fault, () => store.put(key, text('new'), keep)), fault)
    expect(await contentsOf(store)).to.deep.equal(['old'])
    await store.delete(key, keep)
    expect(await keptOf(store, key)).to.have.length(1)
  })
})

describe('history of openDiskBlobStore, whose process is killed,', function () {
  this.timeout(300_000)

  const prepare = async (directory: string) => {
    const store = await openDiskBlobStore({ directory })
    await store.put(key, text('0'))
    await store.close()
  }
  const die = async (step = '', times = 0) => {
    await using place = await makeTemporaryDirectory()
    const directory = join(place.path, 'data')
    await prepare(directory)
    const args = [script('keep-and-die.ts'), directory, step, String(times)]
    const { stdout } = await run(process.execPath, args).catch((error: unknown) => {
      if (step === '') throw error
      return error as { stdout: string }
    })
    const lines = stdout.split('\n')
    const done = lines.filter((line) => line.startsWith('done ')).length
    const store = await openDiskBlobStore({ directory })
    try {
      const where = `after ${step}, ${times}`
      // One more may be among them, that of the change under way; each is whole.
      const acknowledged = storedAfter(done)
      expect(await contentsOf(store), where).to.include.members(acknowledged)
      for (const content of await contentsOf(store)) expect(stored, where).to.include(content)
      const names: string[] = []
      for await (const page of store.list('alice')) names.push(...page)
      if (done === Object.keys(changes).length) expect(names).to.deep.equal([])
      await store.resumable.sweep(new Date(Date.now() + 2 * 3_600_000))
      expect(await findLitter(directory), where).to.deep.equal([])
    } finally {
      await store.close()
    }
    return lines.flatMap((line) => (line.startsWith('step ') ? [line.slice(5)] : []))
  }

  it('loses nothing at any step of any change', async () => {
    const steps = await die()
    const seen = new Map<string, number>()
    const deaths = steps.map((step) => {
      const times = (seen.get(step) ?? 0) + 1
      seen.set(step, times)
      return { step, times }
    })
    const kept: readonly string[] = diskHistoryCrashPoints.filter(
      (step) => step !== 'version-removal-synced',
    )
    expect([...seen.keys()]).to.include.members([...kept])
    expect([...seen.keys()]).to.include.members(
      diskCrashPoints.filter((step) => ['named', 'name-removed', 'rename-noted'].includes(step)),
    )
    const rest = deaths.values()
    const worker = async () => {
      for (const { step, times } of rest) await die(step, times)
    }
    await Promise.all([worker(), worker()])
    console.log(`figures: what is kept: ${deaths.length} kills at ${seen.size} steps`)
  })

  it('loses nothing when several processes change the same names', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = join(place.path, 'data')
    await prepare(directory)
    const outputs = await Promise.all(
      ['one', 'two', 'three'].map((label) =>
        run(process.execPath, [script('change-often.ts'), directory, '150', label]),
      ),
    )
    const acknowledged = outputs.flatMap(({ stdout }) => stdout.trim().split('\n'))
    expect(acknowledged.length).to.be.above(300)
    const store = await openDiskBlobStore({ directory })
    const found = new Set(await contentsOf(store))
    await store.close()
    expect(acknowledged.filter((content) => !found.has(content))).to.deep.equal([])
  })
})

/** The contents that so many changes have stored, beside the first one. */
function storedAfter(done: number): readonly string[] {
  const storing = Object.keys(changes)
    .slice(0, done)
    .filter((name) => !/^(rename|delete|restore|expire)/.test(name)).length
  return stored.slice(0, 1 + storing)
}
