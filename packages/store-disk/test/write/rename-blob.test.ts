import { spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { lstat, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { contentOf, meanings, openFaultSite, expectMeaning, text } from '../faults/fault-site.ts'
import { findLitter } from '../disk-harness.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'

const before = { customer: 'alice', name: 'before' }
const after = { customer: 'alice', name: 'after' }
const script = (name: string) => join(import.meta.dirname, '..', 'children', name)

interface Site {
  readonly store: DiskBlobStore
  readonly directory: string
  /** The directory of alice's blobs. */
  readonly files: string
  /** Puts a file where a blob is, as another process does. */
  readonly replace: (name: string, content: string) => void
}

/** Runs `use` on a store whose blob `before` has the content "old". */
async function onSite(use: (site: Site) => Promise<void>): Promise<void> {
  await using place = await makeTemporaryDirectory()
  const directory = join(place.path, 'data')
  const store = await openDiskBlobStore({ directory })
  await store.put(before, text('old'))
  const files = join(directory, 'files', 'alice')
  const replace = (name: string, content: string) => {
    writeFileSync(join(place.path, 'new'), content)
    renameSync(join(place.path, 'new'), join(files, name))
  }
  await use({ store, directory, files, replace })
  await store.close()
}

/** The contents of alice's blobs, by name. */
async function contents(store: DiskBlobStore): Promise<Record<string, string | undefined>> {
  const found: Record<string, string | undefined> = {}
  for await (const page of store.list('alice')) {
    for (const name of page) found[name] = await contentOf(store, { customer: 'alice', name })
  }
  return found
}

/** Calls `act` the first time that the store reaches `step`. */
function atStep(step: string, act: () => unknown): Disposable {
  const steps = channel('holdfast:store-disk:step')
  const onStep = (reached: unknown) => {
    if (reached !== step) return
    steps.unsubscribe(onStep)
    act()
  }
  steps.subscribe(onStep)
  return { [Symbol.dispose]: () => steps.unsubscribe(onStep) }
}

describe('rename of openDiskBlobStore, whose process is killed,', function () {
  this.timeout(60_000)

  const ends = {
    'rename-noted': { before: 'old' },
    named: { after: 'old' },
    'first-name-moved-away': { after: 'old' },
    'second-name-removed': { after: 'old' },
    'name-synced': { after: 'old' },
  }
  for (const [step, expected] of Object.entries(ends)) {
    it(`leaves one name, create-only, after ${step}`, () =>
      onSite(async ({ directory, files }) => {
        const args = [script('rename-and-die.ts'), directory, 'create-only', step]
        const child = spawn(process.execPath, args, { stdio: 'inherit' })
        expect((await once(child, 'exit'))[1]).to.equal('SIGKILL')
        const warnings: string[] = []
        const next = await openDiskBlobStore({
          directory,
          log: { warn: (line) => warnings.push(line) },
        })
        expect(await contents(next)).to.deep.equal(expected)
        for (const name of Object.keys(expected)) {
          expect((await lstat(join(files, name))).nlink, 'names of the file').to.equal(1)
        }
        await next.close()
        expect(await findLitter(directory)).to.deep.equal([])
        expect(warnings).to.have.length(step === 'first-name-moved-away' ? 1 : 0)
      }))
  }

  it('gives back what another process had put under the earlier name', () =>
    onSite(async ({ store, directory, files, replace }) => {
      const args = [script('rename-and-die.ts'), directory, 'create-only', 'named']
      await once(spawn(process.execPath, args), 'exit')
      const [own = ''] = (await readdir(join(directory, 'tmp'))).filter(
        (entry) => !entry.includes(`${process.pid}-`),
      )
      const [note = ''] = await readdir(join(directory, 'tmp', own))
      replace('before', 'new')
      await rename(join(files, 'before'), join(directory, 'tmp', own, `${note}.away`))
      const next = await openDiskBlobStore({ directory })
      expect(await contents(store)).to.deep.equal({ after: 'old', before: 'new' })
      await next.close()
    }))

  for (const change of ['replaced', 'deleted']) {
    it(`leaves the earlier name alone if the new one was ${change} since`, () =>
      onSite(async ({ store, directory, files, replace }) => {
        const args = [script('rename-and-die.ts'), directory, 'create-only', 'named']
        await once(spawn(process.execPath, args), 'exit')
        if (change === 'replaced') replace('after', 'new')
        else await rm(join(files, 'after'))
        const next = await openDiskBlobStore({ directory })
        const since = change === 'replaced' ? { after: 'new' } : {}
        expect(await contents(store)).to.deep.equal({ before: 'old', ...since })
        await next.close()
      }))
  }

  it('leaves the rename of a process that lives alone', () =>
    onSite(async ({ store, directory }) => {
      let opening: Promise<DiskBlobStore> | undefined
      using _ = atStep('rename-noted', () => (opening = openDiskBlobStore({ directory })))
      await store.rename?.(before, 'after', { createOnly: true })
      expect(await contents(store)).to.deep.equal({ after: 'old' })
      await (await opening)?.close()
    }))
})

describe('rename of openDiskBlobStore, while other processes act,', function () {
  this.timeout(60_000)
  const createOnly = { createOnly: true }

  it('leaves alone what replaces the file under its earlier name', () =>
    onSite(async ({ store, replace }) => {
      using _ = atStep('named', () => replace('before', 'new'))
      const info = await store.rename?.(before, 'after', createOnly)
      expect(await contents(store)).to.deep.equal({ after: 'old', before: 'new' })
      expect(await store.stat(after)).to.deep.equal(info)
    }))

  it('takes the new name back where others have renamed the file', () =>
    onSite(async ({ store, files }) => {
      using _ = atStep('named', () => renameSync(join(files, 'before'), join(files, 'other')))
      expect(await store.rename?.(before, 'after', createOnly)).to.equal(undefined)
      expect(await contents(store)).to.deep.equal({ other: 'old' })
    }))

  it('waits for a name that another rename has moved away for a moment', () =>
    onSite(async ({ store, directory, files }) => {
      const away = join(directory, 'away')
      using _ = atStep('named', () => {
        renameSync(join(files, 'before'), away)
        setTimeout(() => renameSync(away, join(files, 'before')), 12)
      })
      const info = await store.rename?.(before, 'after', createOnly)
      expect(info).to.deep.equal(await store.stat(after))
      expect(await contents(store)).to.deep.equal({ after: 'old' })
    }))

  it('leaves alone what replaces the new name', () =>
    onSite(async ({ store, replace }) => {
      using _ = atStep('named', () => replace('after', 'new'))
      await store.rename?.(before, 'after', createOnly)
      expect(await contents(store)).to.deep.equal({ after: 'new' })
    }))

  it('brings nothing back that is deleted under the new name', () =>
    onSite(async ({ store, files }) => {
      using _ = atStep('named', () => rmSync(join(files, 'after')))
      await store.rename?.(before, 'after', createOnly)
      expect(await contents(store)).to.deep.equal({})
    }))

  it('has given the new name to a file that is deleted under the earlier one', () =>
    onSite(async ({ store, files }) => {
      using _ = atStep('named', () => rmSync(join(files, 'before')))
      const info = await store.rename?.(before, 'after', createOnly)
      expect(await store.stat(after)).to.deep.equal(info)
      expect(await contents(store)).to.deep.equal({ after: 'old' })
    }))

  it('gives back what is put under the earlier name at the last moment', () =>
    onSite(async ({ store, replace }) => {
      let isDone = false
      using _ = await interceptFileCalls({
        before({ name, args }) {
          if (isDone || name !== 'rename' || !String(args[1]).endsWith('.away')) return
          isDone = true
          replace('before', 'new')
        },
      })
      await store.rename?.(before, 'after', createOnly)
      expect(isDone).to.equal(true)
      expect(await contents(store)).to.deep.equal({ after: 'old', before: 'new' })
    }))

  it('takes the earlier name away where both names are left', () =>
    onSite(async ({ store, directory, files }) => {
      const args = [script('rename-and-die.ts'), directory, 'create-only', 'named']
      await once(spawn(process.execPath, args), 'exit')
      expect(await contents(store)).to.deep.equal({ after: 'old', before: 'old' })
      await store.rename?.(before, 'after')
      expect(await contents(store)).to.deep.equal({ after: 'old' })
      expect((await lstat(join(files, 'after'))).nlink).to.equal(1)
    }))

  it('never loses or doubles the file that three processes rename at once', () =>
    onSite(async ({ store, directory, files }) => {
      await store.rename?.(before, 'a')
      const children = Array.from({ length: 3 }, () =>
        spawn(process.execPath, [script('rename-often.ts'), directory, '300'], {
          stdio: ['ignore', 'pipe', 'inherit'],
        }),
      )
      const counts = await Promise.all(
        children.map(async ({ stdout }) => Number(await readText(stdout))),
      )
      expect(Math.min(...counts), `renames of each: ${counts.join(', ')}`).to.be.at.least(1)
      const left = await readdir(files)
      expect(left).to.have.length(1)
      expect((await lstat(join(files, left[0] ?? ''))).nlink).to.equal(1)
      expect(Object.values(await contents(store))).to.deep.equal(['old'])
      await store.delete({ customer: 'alice', name: left[0] ?? '' })
    }))
})

describe('rename of openDiskBlobStore, on a failing disk,', function () {
  this.timeout(60_000)
  const calls = {
    replacing: ['lstat blob', 'open customer', 'rename blob', 'sync customer'],
    'create-only': [
      ...['lstat blob', 'symlink other', 'sync temporary', 'open customer', 'link blob'],
      ...['sync customer'],
    ],
  }
  for (const [way, failing] of Object.entries(calls)) {
    it(`keeps the content under the earlier name or the new one, ${way}`, async () => {
      await using site = await openFaultSite()
      const { store, data } = site
      for (const call of failing) {
        for (const code of Object.keys(meanings)) {
          await store.put(before, text('old'))
          const fault = { call, code }
          const work = async () =>
            store.rename?.(before, 'after', { createOnly: way !== 'replacing' })
          expectMeaning(await site.fail(fault, work), fault)
          expect(Object.values(await contents(store)), call).to.deep.equal(['old'])
          expect(await findLitter(data), call).to.deep.equal([])
          await store.delete(before)
          await store.delete(after)
        }
      }
      expect(await openFilesIn(data)).to.deep.equal([])
    })
  }

  it('has the content under one name or both where it cannot leave the earlier one', async () => {
    await using site = await openFaultSite()
    const { store } = site
    for (const call of ['rename blob', 'unlink temporary']) {
      await store.put(before, text('old'))
      const fault = { call, code: 'EIO' }
      const work = async () => store.rename?.(before, 'after', { createOnly: true })
      expectMeaning(await site.fail(fault, work), fault)
      expect(new Set(Object.values(await contents(store))), call).to.deep.equal(new Set(['old']))
      await store.delete(after)
    }
  })

  it('replaces a newer file whole, or keeps it', async () => {
    await using site = await openFaultSite()
    const { store } = site
    for (const call of ['open blob', 'utimes blob', 'sync blob', 'close blob', 'rename blob']) {
      await store.put(before, text('old'))
      await store.put(after, text('newer'))
      const fault = { call, code: 'EIO' }
      expectMeaning(await site.fail(fault, async () => store.rename?.(before, 'after')), fault)
      expect(await contents(store), call).to.deep.equal({ before: 'old', after: 'newer' })
    }
  })
})

describe('rename of openDiskBlobStore', () => {
  it('takes nothing for a blob that is none', () =>
    onSite(async ({ store, files }) => {
      await writeFile(join(files, 'target'), 'x')
      await rm(join(files, 'before'))
      expect(await store.rename?.(before, 'after')).to.equal(undefined)
      expect(await store.rename?.({ ...before, customer: 'new' }, 'after')).to.equal(undefined)
      expect(await readdir(join(files, '..'))).to.deep.equal(['alice'])
    }))
})
