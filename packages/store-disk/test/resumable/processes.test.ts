import { spawn, type ChildProcess } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { appendFileSync, readdirSync, renameSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { UploadKey } from '@holdfast/core'
import { makeTemporaryDirectory, bytesAt, piece } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { parseTempDirectoryName, tempDirectoryName } from '../../src/temp/temp-owner.ts'

const script = join(import.meta.dirname, '..', 'children', 'append-and-stall.ts')
const size = 100_000

interface Place {
  readonly directory: string
  readonly store: DiskBlobStore
  readonly key: UploadKey
  /** Where the upload's files are. */
  readonly uploadDirectory: string
  /** A process in the middle of an append of `size` bytes at `offset`. */
  startAppend(offset: number): Promise<Appending>
  [Symbol.asyncDispose](): Promise<void>
}

interface Appending {
  readonly process: ChildProcess
  /** Resolves with the next line that it writes. */
  readonly nextLine: () => Promise<string>
}

async function openPlace(): Promise<Place> {
  const place = await makeTemporaryDirectory()
  const directory = place.path
  const store = await openDiskBlobStore({ directory })
  const { id } = await store.resumable.begin('alice', { name: 'a', expiresAfterMs: 3_600_000 })
  const children: ChildProcess[] = []
  return {
    directory,
    store,
    key: { customer: 'alice', id },
    uploadDirectory: join(directory, 'uploads', 'alice', id),
    async startAppend(offset) {
      const args = [script, directory, id, String(offset), String(size)]
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
      children.push(child)
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const nextLine = async () => String((await lines.next()).value)
      expect(await nextLine()).to.equal('stalled')
      return { process: child, nextLine }
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) await kill(child)
      await store.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function expectBlob(store: DiskBlobStore, content: Buffer): Promise<void> {
  const blob = await store.open({ customer: 'alice', name: 'a' })
  const chunks: Uint8Array[] = []
  for await (const chunk of blob?.content ?? []) chunks.push(chunk)
  expect(Buffer.concat(chunks).equals(content), 'the blob').to.equal(true)
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.catch((reason: unknown) => reason)
  return error instanceof Error && 'code' in error ? error.code : error
}

describe('resumable of openDiskBlobStore, among processes', function () {
  this.timeout(120_000)

  it('goes on at once with what a killed process was appending to', async () => {
    await using place = await openPlace()
    const { store, key } = place
    const { process: child } = await place.startAppend(0)
    await kill(child)
    expect((await store.resumable.state(key))?.offset).to.equal(0)
    expect(await store.resumable.append(key, 0, piece(0, 10))).to.equal(10)
    await store.resumable.publish(key)
    await expectBlob(store, bytesAt(0, 10))
  })

  it('ends the append of another process, whose bytes count', async () => {
    await using place = await openPlace()
    const { store, key } = place
    const { nextLine } = await place.startAppend(0)
    expect(await codeOf(store.resumable.append(key, 0, piece(0, 10)))).to.equal('upload-conflict')
    expect(await nextLine()).to.equal('upload-conflict')
    expect((await store.resumable.state(key))?.offset).to.equal(size)
    await store.resumable.append(key, size, piece(size, 10))
    await store.resumable.publish(key)
    await expectBlob(store, bytesAt(0, size + 10))
  })

  it('ends it by an interrupt, which leaves nothing that would end the next one', async () => {
    await using place = await openPlace()
    const { store, key, uploadDirectory } = place
    const { nextLine } = await place.startAppend(0)
    await store.resumable.interrupt(key)
    expect((await store.resumable.state(key))?.offset).to.equal(size)
    expect(await nextLine()).to.equal('upload-conflict')
    expect((await readdir(uploadDirectory)).sort()).to.deep.equal([`bytes-${size}`, 'upload.json'])
  })

  it('takes an upload away from another process that appends to it', async () => {
    await using place = await openPlace()
    const { store, key } = place
    const { nextLine } = await place.startAppend(0)
    expect(await store.resumable.discard(key)).to.equal(true)
    expect(await store.resumable.state(key)).to.equal(undefined)
    expect(await nextLine()).to.equal('upload-not-found')
  })

  it('has an append find that its upload was discarded when all bytes have come', async () => {
    await using place = await openPlace()
    const { store, key } = place
    const { process: child, nextLine } = await place.startAppend(0)
    expect(await store.resumable.discard(key)).to.equal(true)
    child.stdin?.write('go on\n')
    expect(await nextLine()).to.equal('upload-not-found')
  })

  it('does not sweep what another process appends to, however long ago that began', async () => {
    await using place = await openPlace()
    const { store, key } = place
    const { process: child } = await place.startAppend(0)
    const later = new Date(Date.now() + 24 * 3_600_000)
    expect(await store.resumable.sweep(later)).to.equal(0)
    await kill(child)
    expect(await store.resumable.sweep(later)).to.equal(1)
    expect(await store.resumable.state(key)).to.equal(undefined)
  })

  it('gives up after ten seconds where the other process is suspended, which then goes on, whatever the clock says', async () => {
    await using place = await openPlace()
    const { store, key, uploadDirectory } = place
    const { process: child, nextLine } = await place.startAppend(0)
    child.kill('SIGSTOP')
    const appending = codeOf(store.resumable.append(key, 0, piece(0, 10)))
    const { now } = Date
    const beginning = performance.now()
    await setTimeout(1_000)
    Date.now = () => now() - 30_000
    const code = await appending.finally(() => (Date.now = now))
    expect(code).to.equal('upload-conflict')
    expect(performance.now() - beginning).to.be.below(25_000)
    expect((await store.resumable.state(key))?.offset).to.equal(0)
    expect(await readdir(uploadDirectory)).to.not.include('wanted')
    child.kill('SIGCONT')
    child.stdin?.write('go on\n')
    expect(await nextLine()).to.equal(String(size + 28))
  })

  it('mixes no bytes where a process comes back that was suspended where it cannot be looked up', async () => {
    await using place = await openPlace()
    const { store, key, directory, uploadDirectory } = place
    await store.resumable.append(key, 0, piece(0, 5))
    const { process: child, nextLine } = await place.startAppend(5)
    child.kill('SIGSTOP')
    await moveToAnotherContainer(uploadDirectory)
    await store.resumable.append(key, 5, piece(5, 50_000))
    child.kill('SIGCONT')
    child.stdin?.write('go on\n')
    expect(await nextLine()).to.equal('upload-conflict')
    expect((await store.resumable.state(key))?.offset).to.equal(50_005)
    await store.resumable.publish(key)
    await expectBlob(store, bytesAt(0, 50_005))
    await store.resumable.sweep(new Date(Date.now() + 24 * 3_600_000))
    expect(await readdir(join(directory, 'uploads', 'alice'))).to.deep.equal([])
  })

  it('makes no content of its own where another process has taken it over before it was opened', async () => {
    await using place = await openPlace()
    const { store, key, uploadDirectory } = place
    /** What the other one does while this one stands still: it takes the content, appends to it, and gives it back. */
    const takeOver = (step: unknown) => {
      if (step !== 'upload-taken') return
      steps.unsubscribe(takeOver)
      const taken = readdirSync(uploadDirectory).find((name) => name.includes('=')) ?? ''
      appendFileSync(join(uploadDirectory, taken), bytesAt(0, 10))
      renameSync(join(uploadDirectory, taken), join(uploadDirectory, 'bytes-10'))
    }
    const steps = channel('holdfast:store-disk:step')
    steps.subscribe(takeOver)
    expect(await codeOf(store.resumable.append(key, 0, piece(0, 20)))).to.equal('upload-conflict')
    expect((await readdir(uploadDirectory)).sort()).to.deep.equal(['bytes-10', 'upload.json'])
    expect(await store.resumable.append(key, 10, piece(10, 10))).to.equal(20)
    await store.resumable.publish(key)
    await expectBlob(store, bytesAt(0, 20))
  })
})

/** Has the owner of the content look like a process of another container that has been silent since it was started. */
async function moveToAnotherContainer(uploadDirectory: string): Promise<void> {
  const names = await readdir(uploadDirectory)
  const content = names.find((name) => name.includes('=')) ?? ''
  const [bytes = '', owner = ''] = content.split('=')
  const identity = parseTempDirectoryName(basename(owner))
  if (!identity) throw new Error(`${content} has no owner`)
  const elsewhere = tempDirectoryName({ ...identity, pidNamespace: 1 }, 'abc')
  await rename(join(uploadDirectory, content), join(uploadDirectory, `${bytes}=${elsewhere}`))
}
