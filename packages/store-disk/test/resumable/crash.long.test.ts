import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { UploadKey } from '@holdfast/core'
import { makeTemporaryDirectory, bytesAt, piece } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore, type DiskBlobStore } from '../../src/disk-blob-store.ts'
import { diskUploadCrashPoints } from '../../src/files/crash-point.ts'
import { findLitter } from '../disk-harness.ts'
import { uploadWorks, type UploadWork } from './upload-works.ts'

const script = join(import.meta.dirname, '..', 'children', 'upload-until-crash.ts')
const hour = 3_600_000
const old = Buffer.from('old')

/** Processes that die at a time. */
const concurrency = 3

const seen = new Set<string>()

describe('openDiskBlobStore, killed with SIGKILL', function () {
  this.timeout(300_000)
  let kills = 0

  for (const work of Object.keys(uploadWorks) as UploadWork[]) {
    it(`keeps uploads whole at each step of ${work}`, async () => {
      const steps = await dieIn(work)
      const rest = deathsIn(steps).values()
      const worker = async () => {
        for (const death of rest) {
          await dieIn(work, death)
          seen.add(death.step)
          kills++
        }
      }
      await Promise.all(Array.from({ length: concurrency }, worker))
    })
  }

  it('leaves a file one name only, once a sweep has found a publication that broke off', async () => {
    await using place = await makeTemporaryDirectory()
    const directory = place.path
    const key = await beginWork(directory, 'publish-as-new')
    await runChild([directory, 'publish-as-new', key.id], { step: 'named', times: 1 })
    const names = async () => (await stat(join(directory, 'files', 'alice', 'a'))).nlink
    const store = await openDiskBlobStore({ directory })
    try {
      expect(await names()).to.equal(2)
      expect(await store.resumable.sweep(new Date())).to.equal(0)
      expect(await names()).to.equal(1)
      await judgePublished(store, key, 100)
      await store.delete({ customer: 'alice', name: 'a' })
      expect((await store.resumable.state(key))?.published).to.include({ size: 100 })
    } finally {
      await store.close()
    }
  })

  it('has died at every step of uploads that the store publishes', () => {
    expect(diskUploadCrashPoints.filter((step) => !seen.has(step))).to.deep.equal([])
  })

  after(() => console.log(`figures: uploads in pieces: ${kills} kills at ${seen.size} steps`))
})

interface Death {
  readonly step: string
  /** The process dies when it comes to the step for this time, from 1. */
  readonly times: number
}

/** Each step, each time; pieces of a content are written many times, and one is like the other. */
function deathsIn(steps: readonly string[]): readonly Death[] {
  const times = new Map<string, number>()
  return steps.flatMap((step) => {
    const reached = (times.get(step) ?? 0) + 1
    times.set(step, reached)
    return step === 'content-written' && reached > 1 ? [] : [{ step, times: reached }]
  })
}

/** Has a process die in the work, on a new directory, and checks what is found; resolves with the steps until then. */
async function dieIn(work: UploadWork, death?: Death): Promise<readonly string[]> {
  await using place = await makeTemporaryDirectory()
  const directory = place.path
  const key = await beginWork(directory, work)
  const steps = await runChild([directory, work, key.id], death)
  const store = await openDiskBlobStore({ directory })
  try {
    await judge(store, key, work, steps)
    await store.resumable.sweep(new Date(Date.now() + 2 * hour))
    expect(await findLitter(directory), 'litter').to.deep.equal([])
  } finally {
    await store.close()
  }
  expect(await readdir(join(directory, 'tmp')), 'temporary directories').to.deep.equal([])
  return steps
}

/** Makes what the work finds in the directory. */
async function beginWork(directory: string, work: UploadWork): Promise<UploadKey> {
  const { before, prepare, plan } = uploadWorks[work]
  const store = await openDiskBlobStore({ directory })
  if (!plan?.createOnly) await store.put({ customer: 'alice', name: 'a' }, chunks(old))
  const { id } = await store.resumable.begin('alice', { name: 'a', expiresAfterMs: hour, ...plan })
  const key = { customer: 'alice', id }
  if (before > 0) await store.resumable.append(key, 0, piece(0, before))
  await store.close()
  await prepare?.(join(directory, 'uploads', 'alice', id))
  return key
}

async function judge(
  store: DiskBlobStore,
  key: UploadKey,
  work: UploadWork,
  steps: readonly string[],
): Promise<void> {
  const { before, adds } = uploadWorks[work]
  const state = await store.resumable.state(key)
  if (!state) {
    expect(['discard', 'sweep']).to.include(work)
    return expectBlob(store, old)
  }
  const isRemoved = steps.includes('upload-removal-synced')
  expect(isRemoved, 'an upload after it was removed').to.equal(false)
  const acknowledged = steps.includes('upload-offset-synced') ? 1 : 0
  expect(state.offset).to.be.within(before + acknowledged, before + adds)
  if (work === 'append-all-or-nothing') expect([before, before + adds]).to.include(state.offset)
  if (state.published) return judgePublished(store, key, before)
  expect(steps, 'steps of what is not published').to.not.include('name-synced')
  expect(await contentOf(store, key)).to.equal(sha(bytesAt(0, state.offset)))
  // What comes next goes on from there, whatever else the dead process has written.
  await store.resumable.append(key, state.offset, piece(state.offset, 3))
  if (work === 'declare-length' || state.plan.length !== undefined) return
  await store.resumable.publish(key)
  await expectBlob(store, bytesAt(0, state.offset + 3))
}

async function judgePublished(store: DiskBlobStore, key: UploadKey, size: number): Promise<void> {
  const blob = { customer: 'alice', name: 'a' }
  await expectBlob(store, bytesAt(0, size))
  const published = await store.resumable.publish(key)
  expect(published).to.deep.equal(await store.stat(blob))
  await store.put(blob, chunks(old))
  expect(await store.resumable.publish(key)).to.deep.equal(published)
  expect((await store.resumable.state(key))?.published).to.deep.equal(published)
  await expectBlob(store, old)
}

async function expectBlob(store: DiskBlobStore, content: Buffer): Promise<void> {
  const blob = await store.open({ customer: 'alice', name: 'a' })
  const found = Buffer.concat(blob ? await collectAll(blob.content) : [])
  expect(sha(found), `the blob, ${found.length} bytes`).to.equal(sha(content))
}

async function contentOf(store: DiskBlobStore, key: UploadKey): Promise<string> {
  return sha(Buffer.concat(await collectAll(store.resumable.content(key))))
}

function runChild(args: readonly string[], death?: Death): Promise<readonly string[]> {
  const crash = death ? [death.step, String(death.times)] : []
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [script, ...args, ...crash], (error, stdout, stderr) => {
      // Where the machine is slow, a run may sync once more than another one.
      const isAlive = !error && (!death || death.times > 1)
      const isExpected = isAlive || (death !== undefined && error?.signal === 'SIGKILL')
      if (isExpected) resolve(stdout.split('\n').filter((line) => line !== ''))
      else reject(new Error(`${args.join(' ')}: ${stdout} ${stderr}`, { cause: error }))
    })
  })
}

async function* chunks(content: Buffer) {
  yield content
}

async function collectAll(content: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const chunk of content) all.push(chunk)
  return all
}

function sha(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
