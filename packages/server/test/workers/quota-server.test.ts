import { createHash } from 'node:crypto'
import {
  createFileService,
  createQuotaKeeper,
  isFileServiceError,
  type BlobStore,
  type Customer,
  type QuotaKeeper,
} from '@holdfast/core'
import { describeQuotaKeeper } from '@holdfast/contract'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createRpcChannel, type Transport } from '../../src/workers/rpc-channel.ts'
import { createQuotaServer, type QuotaHandlers } from '../../src/workers/quota-server.ts'
import { createQuotaClient } from '../../src/workers/worker-services.ts'

const alice: Customer = { name: 'alice', quota: 100 }
const key = { customer: 'alice', name: 'a' }

const upload1 = 'an-upload-of-alice-1'
const upload2 = 'an-upload-of-alice-2'

async function* content(size: number) {
  yield Buffer.alloc(size)
}

/** Two ends of a line; with `cut` nothing comes through any more. */
function createWires() {
  const takers: ((message: unknown) => void)[] = []
  let isCut = false
  const transport = (own: number): Transport => ({
    send: (message) => {
      const copy = JSON.parse(JSON.stringify(message)) as unknown
      queueMicrotask(() => isCut || takers[1 - own]?.(copy))
    },
    onMessage: (take) => void (takers[own] = take),
  })
  return { primary: transport(0), worker: transport(1), cut: () => (isCut = true) }
}

/** Timers that end when a test says so. */
function createTimers() {
  const timers = new Set<() => void>()
  return {
    start: (_ms: number, run: () => void) => {
      timers.add(run)
      return () => void timers.delete(run)
    },
    count: () => timers.size,
    all: () => [...timers],
    expire: () => [...timers].forEach((run) => timers.delete(run) && run()),
  }
}

/** Books for `store`, and workers that claim in them. */
function openKeeper(store: BlobStore) {
  const keeper = createQuotaKeeper(store)
  const timers = createTimers()
  return {
    keeper,
    timers,
    startWorker: () => {
      const wires = createWires()
      const lent = createQuotaServer(keeper, timers.start)
      createRpcChannel(wires.primary, lent.answers)
      const quotas = createQuotaClient(createRpcChannel<QuotaHandlers>(wires.worker, {}))
      return { quotas, stop: wires.cut, die: () => (wires.cut(), lent.end()) }
    },
  }
}

/** Brings an upload as far as its publication. */
async function beginPublishing(quotas: QuotaKeeper, name: string, size: number) {
  const claim = await quotas.claim(alice, name)
  await claim.grow(size)
  await claim.prepare()
  return claim
}

/** Stores a file as an upload does. */
async function upload(store: BlobStore, quotas: QuotaKeeper, name: string, size: number) {
  const claim = await beginPublishing(quotas, name, size)
  try {
    await store.put({ customer: 'alice', name }, content(size))
    claim.settle()
  } finally {
    claim.end()
  }
}

/** Whether an upload of `size` bytes under another name would be taken. */
async function hasRoom(quotas: QuotaKeeper, size: number): Promise<boolean> {
  const claim = await quotas.claim(alice, 'a name that no test uses', size).catch(() => undefined)
  claim?.end()
  return claim !== undefined
}

async function refusalOf(call: unknown): Promise<string> {
  try {
    await call
    return 'none'
  } catch (error) {
    return isFileServiceError(error) ? error.code : String(error)
  }
}

describeQuotaKeeper('the keeper of two workers', async () => {
  const store = createMemoryBlobStore()
  const { startWorker } = openKeeper(store)
  const workers = [startWorker(), startWorker()]
  return {
    keepers: workers.map(({ quotas }) => quotas),
    store,
    dispose: async () => workers.forEach(({ die }) => die()),
  }
})

describe('createQuotaServer', () => {
  it('keeps room for what the store publishes after the worker that sent it has died', async () => {
    const store = createMemoryBlobStore()
    const { keeper, timers, startWorker } = openKeeper(store)
    const worker = startWorker()
    // Keeps the accounts from being made anew.
    const other = await keeper.claim(alice, 'other')
    await beginPublishing(worker.quotas, 'a', 60)
    worker.die()
    await new Promise(setImmediate)
    expect(await hasRoom(keeper, 41), 'before it is known').to.equal(false)
    await store.put(key, content(60))
    timers.expire()
    await until('its end is known', () => hasRoom(keeper, 40))
    expect(await hasRoom(keeper, 41)).to.equal(false)
    other.end()
  })

  it('frees the room of a worker that has died when nothing was published', async () => {
    const store = createMemoryBlobStore()
    const { keeper, timers, startWorker } = openKeeper(store)
    const worker = startWorker()
    await beginPublishing(worker.quotas, 'a', 60)
    worker.die()
    timers.expire()
    await until('the room is free', () => hasRoom(keeper, 100))
  })

  it('does not let a worker that has stopped while it publishes keep the name from others', async () => {
    const store = createMemoryBlobStore()
    const { keeper, timers, startWorker } = openKeeper(store)
    const stopped = startWorker()
    const late = await beginPublishing(stopped.quotas, 'a', 60)
    stopped.stop()
    const uploading = upload(store, keeper, 'a', 10)
    timers.expire()
    await uploading
    expect(await hasRoom(keeper, 31), 'while it may yet publish').to.equal(false)
    await store.put(key, content(60))
    late.settle()
    stopped.die()
    timers.expire()
    await until('all is known', () => hasRoom(keeper, 40))
    expect(await hasRoom(keeper, 41)).to.equal(false)
  })

  it('counts what a worker publishes that goes on after others have had the name', async () => {
    const store = createMemoryBlobStore()
    const { keeper, timers, startWorker } = openKeeper(store)
    const slow = startWorker()
    const late = await beginPublishing(slow.quotas, 'a', 60)
    const other = await keeper.claim(alice, 'other')
    const uploading = upload(store, keeper, 'a', 10)
    timers.expire()
    await uploading
    await store.put(key, content(60))
    late.settle()
    late.end()
    await new Promise(setImmediate)
    expect(await hasRoom(keeper, 41)).to.equal(false)
    other.end()
    expect(await hasRoom(keeper, 40)).to.equal(true)
  })

  it('lets a worker that renames for minutes keep the names', async () => {
    const { keeper, timers } = openKeeper(createMemoryBlobStore())
    const { answers } = createQuotaServer(keeper, timers.start)
    const { id } = await answers.beginRemoval({ customer: alice, name: 'b', source: 'a' })
    const [expiry] = timers.all()
    answers.keepRemoval({ id })
    expect(timers.all()).to.have.length(1).and.not.include(expiry)
    await answers.endRemoval({ id, removed: true })
    answers.keepRemoval({ id })
    expect(timers.count()).to.equal(0)
  })

  it('does not let a worker that has stopped while it deletes keep the name from others', async () => {
    const store = createMemoryBlobStore()
    await store.put(key, content(60))
    const { keeper, timers, startWorker } = openKeeper(store)
    const stopped = startWorker()
    const other = await keeper.claim(alice, 'other')
    const begun = Promise.withResolvers<undefined>()
    const gate = Promise.withResolvers<undefined>()
    const removing = stopped.quotas.free(alice, 'a', async () => {
      begun.resolve(undefined)
      await gate.promise
      return store.delete(key)
    })
    await begun.promise
    const uploading = upload(store, keeper, 'a', 10)
    timers.expire()
    await uploading
    gate.resolve(undefined)
    expect(await removing).to.equal(true)
    other.end()
    expect(await hasRoom(keeper, 100)).to.equal(true)
  })

  it('counts pieces of workers as bytes of an unfinished upload, until it is published', async () => {
    const store = createMemoryBlobStore()
    const { keeper, startWorker } = openKeeper(store)
    const [first, second] = [startWorker(), startWorker()]
    // Keeps the accounts from being made anew.
    const other = await keeper.claim(alice, 'other')
    const piece = await first.quotas.claim(alice, 'a', 0, upload1)
    await piece.grow(70)
    await piece.grow(10)
    expect(await refusalOf(piece.grow(21))).to.equal('quota-exceeded')
    piece.stage(80)
    piece.end()
    expect(await hasRoom(second.quotas, 21)).to.equal(false)
    expect(await hasRoom(second.quotas, 20)).to.equal(true)
    const claim = await second.quotas.claim(alice, 'a', 0, upload1)
    claim.stage(80)
    await claim.prepare()
    await store.put(key, content(80))
    claim.settle()
    claim.end()
    expect(await hasRoom(first.quotas, 21)).to.equal(false)
    expect(await first.quotas.free(alice, 'a', () => store.delete(key))).to.equal(true)
    expect(await hasRoom(first.quotas, 100)).to.equal(true)
    other.end()
  })

  it('frees what a worker discards, and what is gone', async () => {
    const { keeper, startWorker } = openKeeper(createMemoryBlobStore())
    const { quotas } = startWorker()
    const other = await keeper.claim(alice, 'other')
    for (const upload of [upload1, upload2]) {
      const piece = await quotas.claim(alice, 'a', 50, upload)
      await piece.grow(50)
      piece.stage(50)
      piece.end()
    }
    expect(await hasRoom(keeper, 1)).to.equal(false)
    await quotas.release(alice, upload1)
    expect(await hasRoom(keeper, 51)).to.equal(false)
    expect(await hasRoom(keeper, 50)).to.equal(true)
    await quotas.releaseGone()
    expect(await hasRoom(keeper, 100)).to.equal(true)
    other.end()
  })

  it('counts all that a worker has claimed for a piece when it dies, until the next count', async () => {
    const store = createMemoryBlobStore()
    const { keeper, startWorker } = openKeeper(store)
    const worker = startWorker()
    const other = await keeper.claim(alice, 'other')
    const piece = await worker.quotas.claim(alice, 'a', 60, upload1)
    await piece.grow(20)
    worker.die()
    expect(await hasRoom(keeper, 41)).to.equal(false)
    other.end()
    expect(await hasRoom(keeper, 100)).to.equal(true)
  })

  it('lets the services of two workers go on with one upload, within the quota', async () => {
    const store = createMemoryBlobStore()
    const { keeper, startWorker } = openKeeper(store)
    const filesOf = (customer: Customer) =>
      createFileService({ store, quotas: startWorker().quotas }).filesOf(customer)
    const [first, second] = [filesOf(alice), filesOf(alice)]
    const begun = await first.resumable?.begin('a', { length: 90 })
    const id = begun?.id ?? ''
    await first.resumable?.append(id, 0, content(50))
    expect(await refusalOf(second.upload('b', content(51)))).to.equal('quota-exceeded')
    expect(await refusalOf(second.resumable?.begin('b', { length: 51 }))).to.equal('quota-exceeded')
    const finished = await second.resumable?.append(id, 50, content(40))
    expect(finished?.published?.size).to.equal(90)
    expect(await refusalOf(first.upload('b', content(11)))).to.equal('quota-exceeded')
    await first.upload('b', content(10))
    await second.delete('a')
    expect(await hasRoom(keeper, 90)).to.equal(true)
  })

  it('keeps no room for an upload that is discarded for its digest', async () => {
    const store = createMemoryBlobStore()
    const { keeper, startWorker } = openKeeper(store)
    const large = { name: 'alice', quota: 6400 }
    const createSha256 = () => createHash('sha256')
    const service = createFileService({ store, createSha256, quotas: startWorker().quotas })
    const { resumable } = service.filesOf(large)
    const other = await keeper.claim(large, 'other')
    const begun = await resumable?.begin('a', { sha256: '0'.repeat(64) })
    const id = begun?.id ?? ''
    await resumable?.append(id, 0, content(10))
    expect(await refusalOf(resumable?.publish(id))).to.equal('digest-mismatch')
    const all = await keeper.claim(large, 'all', 6400)
    all.end()
    other.end()
  })

  it('does not ask about pieces of customers without limits', async () => {
    const { startWorker } = openKeeper(createMemoryBlobStore())
    const { quotas, stop } = startWorker()
    stop()
    const bob = { name: 'bob' }
    const piece = await quotas.claim(bob, 'a', 0, upload1)
    await piece.grow(1e15)
    piece.stage(1e15)
    piece.end()
    await quotas.release(bob, upload1)
  })

  it('keeps no timer for what has ended', async () => {
    const store = createMemoryBlobStore()
    const { timers, startWorker } = openKeeper(store)
    const { quotas } = startWorker()
    await upload(store, quotas, 'a', 10)
    expect(await quotas.free(alice, 'a', () => store.delete(key))).to.equal(true)
    await until('all has ended', () => timers.count() === 0)
  })
  it('keeps no timer for a claim that has ended while it waited for its name', async () => {
    const { timers, startWorker } = openKeeper(createMemoryBlobStore())
    const { quotas } = startWorker()
    const first = await beginPublishing(quotas, 'a', 10)
    const second = await quotas.claim(alice, 'a')
    const waiting = second.prepare()
    second.end()
    first.end()
    await waiting
    await until('all has ended', () => timers.count() === 0)
  })
})
