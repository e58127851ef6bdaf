import { basename, join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../src/disk-blob-store.ts'
import { keepsOrder } from '../src/files/file-system.ts'
import { findLitter } from './disk-harness.ts'
import { interceptFileCalls, type FileCall } from './file-calls-intercepted.ts'
import { systemError } from './full-disk.ts'

const key = { customer: 'alice', name: 'report.pdf' }

async function* text(content: string) {
  yield Buffer.from(content)
}

/** The calls that durability depends on. */
const important = ['write', 'sync', 'mkdir', 'rename', 'link', 'unlink']

interface Recording {
  readonly steps: string[]
  [Symbol.dispose](): void
}

/** Records the calls that durability depends on, in the order in which they finish. */
async function recordSteps(failing?: string): Promise<Recording> {
  const steps: string[] = []
  const interception = await interceptFileCalls({
    before(call) {
      if (titleOf(call) === failing) throw systemError('EIO', call.name)
    },
    after(call) {
      if (important.includes(call.name)) steps.push(titleOf(call))
    },
  })
  return {
    steps,
    [Symbol.dispose]: () => interception[Symbol.dispose](),
  }
}

function titleOf({ name, path, args }: FileCall): string {
  const paths = name === 'rename' || name === 'link' ? [path, String(args[1])] : [path]
  return [
    name,
    ...paths.map((one) => (one.includes('/data/tmp/') ? 'temporary' : basename(one))),
  ].join(' ')
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

  it('replaces another one that is kept, has given both their versions in this order', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = join(place.path, 'data')
    const store = await openDiskBlobStore({ directory })
    await store.put(key, text('old'))
    using recording = await recordSteps()
    await store.put(key, text('content'), { keepReplaced: true })
    await store.put(key, text('content'), { keepReplaced: true })
    await store.delete(key, { keepReplaced: true })
    const version = /\d{8}T\d{6}\.\d{9}Z-\w+/
    // Where the file system keeps the order of changes, the versions need no sync of their own.
    const isOrdered = await keepsOrder(directory)
    const synced = isOrdered ? [] : ['sync report.pdf']
    const made = isOrdered
      ? ['mkdir versions', 'mkdir alice', 'mkdir report.pdf']
      : [
          'mkdir versions',
          'sync data',
          'mkdir alice',
          'sync versions',
          'mkdir report.pdf',
          'sync alice',
        ]
    const stored = ['rename temporary report.pdf', 'sync alice']
    const written = ['write temporary', 'sync temporary']
    expect(recording.steps.map((step) => step.replace(version, 'VERSION'))).to.deep.equal([
      ...[...written, ...made, 'link report.pdf VERSION', ...synced],
      ...['link temporary VERSION', ...synced, ...stored],
      ...[...written, 'link temporary VERSION', ...synced, ...stored],
      ...['unlink report.pdf', 'sync alice'],
    ])
    await store.close()
  })

  it('is renamed, has synced the directory', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('content'))
    using recording = await recordSteps()
    await store.rename?.(key, 'other')
    expect(recording.steps).to.deep.equal(['rename report.pdf other', 'sync alice'])
    await store.close()
  })

  it('is renamed, create-only, has noted that durably, and has one name when it says so', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('content'))
    using recording = await recordSteps()
    await store.rename?.(key, 'other', { createOnly: true })
    expect(recording.steps).to.deep.equal([
      'sync temporary',
      'link report.pdf other',
      'rename report.pdf temporary',
      'unlink temporary',
      'sync alice',
      'unlink temporary',
    ])
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

describe('openDiskBlobStore, on a disk of this machine,', () => {
  it('has the thread pool sync a small blob, and does all else of it at once', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('old'))
    expect(await pooledCalls(() => store.put(key, text('new')))).to.deep.equal(['sync', 'sync'])
    await store.close()
  })

  it('leaves what it writes of a large blob to the pool', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('old'))
    async function* chunks() {
      for (let count = 0; count < 10; count++) yield Buffer.alloc(64 * 1024)
      yield Buffer.from('and the rest')
    }
    const pooled = await pooledCalls(() => store.put(key, chunks()))
    expect(pooled.filter((name) => name === 'write')).to.have.length.above(1)
    await store.close()
  })

  it('leaves it to the pool to replace a large blob', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('old'.repeat(100_000)))
    const pooled = await pooledCalls(() => store.put(key, text('new')))
    expect(pooled).to.deep.equal(['sync', 'rename', 'sync'])
    await store.close()
  })

  it('has the thread pool sync the directory of a small blob that is removed, and does all else at once', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('content'))
    expect(await pooledCalls(() => store.delete(key))).to.deep.equal(['sync'])
    await store.close()
  })

  it('leaves it to the pool to remove a large blob', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('content'.repeat(100_000)))
    expect(await pooledCalls(() => store.delete(key))).to.deep.equal(['unlink', 'sync'])
    await store.close()
  })

  it('leaves everything to the pool for a while, where a call has taken long', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    await store.put(key, text('old'))
    const slow = await interceptFileCalls({
      after({ name, isBlocking }) {
        if (name === 'rename' && isBlocking) block(500)
      },
    })
    await store.put(key, text('new'))
    slow[Symbol.dispose]()
    const pooled = await pooledCalls(() => store.put(key, text('newer')))
    expect(pooled).to.include.members(['open', 'write', 'utimes', 'stat', 'close', 'rename'])
    await store.close()
  })
})

/** The names of the calls that the thread pool makes for `work`. */
async function pooledCalls(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = []
  using _ = await interceptFileCalls({
    before({ name, isBlocking }) {
      if (!isBlocking) names.push(name)
    },
  })
  await work()
  return names
}

/** Keeps the main thread busy for so many milliseconds. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
