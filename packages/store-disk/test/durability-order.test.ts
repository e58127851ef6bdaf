import fsp, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { openDiskBlobStore } from '../src/disk-blob-store.ts'
import { fileHandlePrototype, systemError } from './full-disk.ts'
import { findLitter, openFilesIn } from './disk-harness.ts'
import { makeTemporaryDirectory } from './temporary-directory.ts'

const key = { customer: 'alice', name: 'report.pdf' }

async function* text(content: string) {
  yield Buffer.from(content)
}

interface Recording {
  readonly steps: string[]
  [Symbol.dispose](): void
}

type Method = (...args: unknown[]) => Promise<unknown>

/** Records the calls of the file system that durability depends on, in the order in which they finish. */
async function recordSteps(failing?: string): Promise<Recording> {
  const steps: string[] = []
  const undo: (() => void)[] = []
  const paths = new Map<number, string>()
  const name = (path: unknown) => {
    const text = String(path)
    return text.includes('/data/tmp/') ? 'temporary' : basename(text)
  }
  const wrap = (
    object: object,
    method: string,
    tell: (self: unknown, args: unknown[], result: unknown) => string,
  ) => {
    const original = Reflect.get(object, method) as Method
    undo.push(() => Reflect.set(object, method, original))
    Reflect.set(object, method, async function (this: unknown, ...args: unknown[]) {
      const before = tell(this, args, undefined)
      if (before === failing) throw systemError('EIO', method)
      const result = await Reflect.apply(original, this, args)
      const step = tell(this, args, result)
      if (step !== '') steps.push(step)
      return result
    })
  }
  const descriptor = (handle: unknown) => paths.get((handle as FileHandle).fd) ?? '?'
  const prototype = await fileHandlePrototype()
  wrap(prototype, 'write', (file) => `write ${descriptor(file)}`)
  wrap(prototype, 'sync', (file) => `sync ${descriptor(file)}`)
  wrap(fsp, 'mkdir', (_, [path]) => `mkdir ${name(path)}`)
  wrap(fsp, 'rename', (_, [from, to]) => `rename ${name(from)} ${name(to)}`)
  wrap(fsp, 'link', (_, [from, to]) => `link ${name(from)} ${name(to)}`)
  wrap(fsp, 'unlink', (_, [path]) => `unlink ${name(path)}`)
  wrap(fsp, 'open', (_, [path], result) => {
    if (result !== undefined) paths.set((result as FileHandle).fd, name(path))
    return ''
  })
  syncBuiltinESMExports()
  return {
    steps,
    [Symbol.dispose]() {
      for (const restore of undo) restore()
      syncBuiltinESMExports()
    },
  }
}

describe('openDiskBlobStore, before it says that a blob', () => {
  it('is stored, has synced the content, then its name, then the directories on the way', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    using recording = await recordSteps()
    await store.put(key, text('content'))
    expect(recording.steps).to.deep.equal([
      'write temporary',
      'sync temporary',
      'mkdir alice',
      'sync files',
      'rename temporary report.pdf',
      'sync alice',
    ])
    await store.close()
  })

  it('is created, has linked it only after the sync of its content', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put({ ...key, name: 'other' }, text('content'))
    using recording = await recordSteps()
    await store.put(key, text('content'), { createOnly: true })
    expect(recording.steps).to.deep.equal([
      'write temporary',
      'sync temporary',
      'link temporary report.pdf',
      'unlink temporary',
      'sync alice',
    ])
    await store.close()
  })

  it('is gone, has synced the directory', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('content'))
    using recording = await recordSteps()
    expect(await store.delete(key)).to.equal(true)
    expect(recording.steps).to.deep.equal(['unlink report.pdf', 'sync alice'])
    await store.close()
  })

  for (const step of ['write temporary', 'sync temporary', 'rename temporary report.pdf']) {
    it(`is stored, has failed without a trace where "${step}" fails`, async () => {
      await using place = await makeTemporaryDirectory()
      const directory = join(place.path, 'data')
      const store = await openDiskBlobStore({ directory })
      const info = await store.put(key, text('old'))
      {
        using recording = await recordSteps(step)
        const failure = await store.put(key, text('new')).catch((error: unknown) => error)
        expect(failure).to.have.property('code', 'EIO')
        expect(recording.steps.filter((done) => done.startsWith('sync'))).to.have.length.at.most(1)
      }
      expect(await store.stat(key)).to.deep.equal(info)
      expect(await findLitter(directory)).to.deep.equal([])
      expect(await openFilesIn(directory)).to.deep.equal([])
      await store.close()
    })
  }
})
