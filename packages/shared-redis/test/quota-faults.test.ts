import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import {
  createFileService,
  createQuotaKeeper,
  isFileServiceError,
  type BlobStore,
  type Customer,
} from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { EngineAwayError, openEngine, openSharedQuotas, type Engine } from '@holdfast/shared-redis'
import { startRedis } from '@holdfast/testing/redis'
import { randomOf } from './support/random.ts'

const alice: Customer = { name: 'alice', quota: 10_000, maxFiles: 40 }

interface Faults {
  /** How many of a hundred questions are lost, and how many answers. */
  readonly lost: number
  /** How many of a hundred questions are asked twice. */
  readonly doubled: number
  /** How many of a hundred messages to other servers are lost. */
  readonly unheard: number
  /** The longest delay of questions, answers and messages, in milliseconds. */
  readonly delayMs: number
}

/** `engine`, over a network that loses, doubles and delays. */
function faulty(engine: Engine, random: () => number, faults: Faults): Engine {
  const happens = (percent: number) => random() * 100 < percent
  const late = () => delay(random() * faults.delayMs)
  const lose = () => {
    throw new EngineAwayError('The network has lost it')
  }
  return {
    ...engine,
    async run(...question) {
      await late()
      if (happens(faults.lost)) lose()
      if (happens(faults.doubled)) void late().then(() => engine.run(...question))
      const answer = await engine.run(...question)
      await late()
      if (happens(faults.lost)) lose()
      return answer
    },
    notify(topic, message) {
      if (!happens(faults.unheard)) void late().then(() => engine.notify(topic, message))
    },
  }
}

/** A store that takes its time before it publishes and deletes. */
function slowStore(random: () => number): BlobStore {
  const store = createMemoryBlobStore()
  return {
    ...store,
    async put(key, content, options) {
      const chunks: Uint8Array[] = []
      for await (const chunk of content) chunks.push(chunk)
      await delay(random() * 5)
      return store.put(key, Readable.from(chunks), options)
    },
    async delete(key) {
      await delay(random() * 5)
      return store.delete(key)
    },
    async *list(customer, options) {
      await delay(random() * 5)
      yield* store.list(customer, options)
    },
    async usage(customer) {
      const before = await store.usage(customer)
      await delay(random() * 5)
      // A list that takes its time may miss what is stored meanwhile, and have what is deleted.
      return random() < 0.5 ? before : store.usage(customer)
    },
  }
}

async function* bytes(random: () => number, size: number) {
  for (let left = size; left > 0;) {
    const length = Math.min(left, 1 + Math.floor(random() * 500))
    left -= length
    await delay(random() * 2)
    yield new Uint8Array(length)
  }
}

interface Outcome {
  stored: number
  refused: number
  most: number
}

/** Customers upload, replace and delete at random on three servers; looks all the time how much is stored. */
async function trial(seed: number, faults: Faults, rounds: number): Promise<Outcome> {
  const random = randomOf(seed)
  const redis = await startRedis()
  const store = slowStore(random)
  const engines: Engine[] = []
  const closes: (() => Promise<void>)[] = []
  try {
    const services = await Promise.all(
      [0, 1, 2].map(async () => {
        const engine = await openEngine({ url: redis.url, leaseMs: 60_000, timeoutMs: 5_000 })
        engines.push(engine)
        const shared = openSharedQuotas(faulty(engine, random, faults), store)
        closes.push(() => shared.close())
        const quotas = createQuotaKeeper(store, { shared })
        return createFileService({ store, quotas }).filesOf(alice)
      }),
    )
    const outcome: Outcome = { stored: 0, refused: 0, most: 0 }
    const isOver = { value: false }
    const watch = (async () => {
      while (!isOver.value) {
        const usage = await createUsage(store)
        outcome.most = Math.max(outcome.most, usage.bytes)
        expect(usage.bytes, 'bytes').to.be.at.most(10_000)
        expect(usage.blobs, 'files').to.be.at.most(40)
        await delay(1)
      }
    })()
    const client = async (n: number) => {
      for (let round = 0; round < rounds; round++) {
        const files = services[Math.floor(random() * 3)] ?? services[0]
        const name = `${Math.floor(random() * 60)}`
        const size = Math.floor(random() ** 3 * 3_000)
        const isAnnounced = random() < 0.5
        const isDeletion = random() < 0.2 + (n === 0 ? 0.2 : 0)
        try {
          if (isDeletion) await files?.delete(name)
          else await files?.upload(name, bytes(random, size), isAnnounced ? { size } : {})
          outcome.stored++
        } catch (error) {
          if (
            !isFileServiceError(error, 'quota-exceeded') &&
            !isFileServiceError(error, 'not-found')
          )
            throw error
          outcome.refused++
        }
      }
    }
    const clients = Promise.all(Array.from({ length: 8 }, (_, n) => client(n)))
    await Promise.all([clients.finally(() => void (isOver.value = true)), watch])
    // Now that it is quiet, each server takes exactly the bytes that are free.
    const calm = await Promise.all(
      engines.map(async (engine) => {
        const shared = openSharedQuotas(engine, store)
        closes.push(() => shared.close())
        return createQuotaKeeper(store, { shared })
      }),
    )
    await Promise.all(closes.slice(0, 3).map(async (close) => close()))
    const { bytes: used, blobs } = await createUsage(store)
    for (const keeper of calm) {
      if (blobs >= 40) break
      await delay(1_000)
      const claim = await keeper.claim(alice, 'new', 10_000 - used)
      claim.end()
      const refused = await keeper.claim(alice, 'new', 10_001 - used).catch(() => undefined)
      expect(refused).to.equal(undefined)
    }
    return outcome
  } finally {
    await Promise.all(closes.map(async (close) => close().catch(() => {})))
    for (const engine of engines) await engine.close()
    await redis.stop()
  }
}

/** The usage as it is now. */
async function createUsage(store: BlobStore) {
  let total = 0
  let blobs = 0
  for await (const page of store.listDetails('alice')) {
    for (const { size } of page) {
      total += size
      blobs++
    }
  }
  return { bytes: total, blobs }
}

const calmNetwork: Faults = { lost: 0, doubled: 0, unheard: 0, delayMs: 1 }

describe('openSharedQuotas over a network with faults', () => {
  const cases: readonly (readonly [string, Faults])[] = [
    ['without faults', calmNetwork],
    ['that is slow', { ...calmNetwork, delayMs: 30 }],
    ['that asks twice', { ...calmNetwork, doubled: 30, delayMs: 10 }],
    ['that loses messages to other servers', { ...calmNetwork, unheard: 50, delayMs: 5 }],
  ]
  for (const [what, faults] of cases) {
    it(`never lets more be stored than the quota, and frees all, ${what}`, async () => {
      for (const seed of [1, 2]) {
        const { stored, refused, most } = await trial(seed, faults, 12)
        expect(stored).to.be.above(20)
        expect(refused).to.be.above(0)
        expect(most).to.be.above(5_000)
      }
    })
  }
})
