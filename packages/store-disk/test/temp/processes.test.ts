import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { identifyProcess, tempDirectoryName } from '../../src/temp/temp-owner.ts'
import { collect } from '../collect.ts'
import { findLitter } from '../disk-harness.ts'

const key = { customer: 'alice', name: 'report.pdf' }
const script = (name: string) => join(import.meta.dirname, '..', 'children', name)

async function* text(content: string) {
  yield Buffer.from(content)
}

/** A process in the middle of an upload, and the way to kill it. */
async function startUpload(directory: string) {
  const child = spawn(process.execPath, [script('upload-and-stall.ts'), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as unknown[]
  expect(String(line)).to.include('stalled')
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}

describe('openDiskBlobStore among processes', () => {
  it('clears away what a killed process left, and keeps the earlier file whole', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = place.path
    const first = await openDiskBlobStore({ directory })
    const info = await first.put(key, text('old'))
    await first.close()
    await (
      await startUpload(directory)
    )()
    expect(await findLitter(directory), 'before').to.have.length(1)
    const warnings: string[] = []
    const store = await openDiskBlobStore({
      directory,
      log: { warn: (line) => warnings.push(line) },
    })
    expect(await findLitter(directory), 'after').to.deep.equal([])
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('Removed 1 unfinished file')
    expect(await store.stat(key)).to.deep.equal(info)
    expect((await collect(store.list('alice'))).flat()).to.deep.equal(['report.pdf'])
    await store.close()
    expect(await readdir(join(directory, 'tmp'))).to.deep.equal([])
  })

  it('says nothing of a killed process that left no file', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = place.path
    await (
      await startUpload(directory)
    )()
    for (const file of await findLitter(directory)) await rm(join(directory, 'tmp', file))
    const warnings: string[] = []
    const log = { warn: (line: string) => void warnings.push(line) }
    const store = await openDiskBlobStore({ directory, log })
    expect(await readdir(join(directory, 'tmp'))).to.have.length(1)
    await store.close()
    expect(warnings).to.deep.equal([])
  })

  it('clears away at its start what was left when the machine was booted anew, however short ago', async () => {
    await using place = await makeTemporaryDirectory()
    const { path: directory } = place
    await (await openDiskBlobStore({ directory })).close()
    const tmp = join(directory, 'tmp')
    const before = { ...identifyProcess(), bootId: 'abc' }
    const elsewhere = tempDirectoryName({ ...before, hostname: 'elsewhere' }, '2')
    for (const owner of [tempDirectoryName(before, '1'), elsewhere]) {
      await mkdir(join(tmp, owner))
      await writeFile(join(tmp, owner, '0'), 'half of a file')
    }
    const warnings: string[] = []
    const log = { warn: (line: string) => warnings.push(line) }
    const store = await openDiskBlobStore({ directory, log })
    expect(await findLitter(directory)).to.deep.equal([join(elsewhere, '0')])
    expect(warnings.join()).to.include('Removed 1 unfinished file')
    await store.close()
  })

  it('spares the upload of a live process', async () => {
    await using place = await makeTemporaryDirectory()
    const kill = await startUpload(place.path)
    try {
      const [own = ''] = await readdir(join(place.path, 'tmp'))
      // Silent for an hour, but its process can be looked up.
      const hourAgo = new Date(Date.now() - 3_600_000)
      await utimes(join(place.path, 'tmp', own), hourAgo, hourAgo)
      await (await openDiskBlobStore({ directory: place.path })).close()
      expect(await findLitter(place.path)).to.have.length(1)
    } finally {
      await kill()
    }
  })

  it('spares the upload of another store of the same process', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = place.path
    const first = await openDiskBlobStore({ directory })
    async function* content() {
      yield Buffer.from('half, ')
      const second = await openDiskBlobStore({ directory })
      await second.close()
      yield Buffer.from('whole')
    }
    expect(await first.put(key, content())).to.have.property('size', 11)
    await first.close()
  })

  it('makes its own temporary directory again after it was removed', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: place.path })
    await rm(join(place.path, 'tmp'), { recursive: true })
    expect(await store.put(key, text('content'))).to.have.property('size', 7)
    await store.close()
    const failure = await store.put(key, text('content')).catch((error: unknown) => error)
    expect(failure).to.have.property('message', 'The disk store is closed')
  })

  it('leaves entries in the temporary directory alone that no store made', async () => {
    await using place = await makeTemporaryDirectory()
    await mkdir(join(place.path, 'tmp', 'mine'), { recursive: true })
    await (await openDiskBlobStore({ directory: place.path })).close()
    expect(await readdir(join(place.path, 'tmp'))).to.deep.equal(['mine'])
  })

  it('gives a name to one of the processes that create it at once', async () => {
    await using place = await makeTemporaryDirectory()
    const run = () =>
      promisify(execFile)(process.execPath, [script('create-many.ts'), place.path, '40'])
    const outputs = await Promise.all([run(), run(), run()])
    const results = outputs.map(
      ({ stdout }) => JSON.parse(stdout) as { pid: number; won: string[] },
    )
    const winners = new Map(results.flatMap(({ pid, won }) => won.map((name) => [name, pid])))
    expect(results.reduce((sum, { won }) => sum + won.length, 0)).to.equal(40)
    const store = await openDiskBlobStore({ directory: place.path })
    for (const [name, pid] of winners) {
      const blob = await store.open({ customer: 'alice', name })
      expect(Buffer.concat(await collect(blob!.content)).toString()).to.equal(String(pid))
    }
    expect(winners.size).to.equal(40)
    await store.close()
  })
})
