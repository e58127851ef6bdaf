import { randomInt } from 'node:crypto'
import { describeWithMinio } from '@holdfast/minio-container'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { BlobStore } from '@holdfast/core'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'
import { startService } from '../../black-box/support/running-service.ts'
import { expectLinearizable } from './expect-linearizable.ts'
import { runClients, type ClientRun } from './run-clients.ts'
import { startLosingProxy } from './start-losing-proxy.ts'

const minute = 60_000
const clients = 5
const operations = 8

interface Trial extends Pick<ClientRun, 'urls' | 'rounds'> {
  readonly seed?: number
  readonly headers?: ClientRun['credentials']
}

/** Runs clients at servers, and passes when their answers make sense. */
async function expectSense(trial: Trial): Promise<void> {
  const { urls, rounds, seed = randomInt(2 ** 31), headers = credentials } = trial
  const run = { urls, credentials: headers, seed, clients, operations, rounds }
  try {
    for await (const history of runClients(run)) expectLinearizable(history)
  } catch (error) {
    throw new Error(`Seed ${seed}: ${String(error)}`, { cause: error })
  }
}

describe('Files that many clients use at once are linearizable', function () {
  this.timeout(5 * minute)
  let site: Site
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
    await site.remove()
  })
  const start = async (...args: string[]) => {
    const server = await startHoldfast(args, { cwd: site.path })
    servers.push(server)
    return server.url
  }

  it('on disk', async () => {
    await expectSense({ urls: [await start()], rounds: 25 })
  })

  it('on disk with --workers', async () => {
    await expectSense({ urls: [await start('--workers', '2')], rounds: 25 })
  })

  it('on one directory with two servers', async () => {
    await expectSense({ urls: [await start(), await start()], rounds: 25 })
  })

  describeWithMinio('on MinIO', (minio) => {
    const startOnMinio = async (endpoint: string) => {
      const { accessKey, secretKey } = minio()
      const bucket = await minio().createBucket()
      const args = ['--store', 'minio', '--minio-endpoint', endpoint, '--minio-bucket', bucket]
      const env = { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
      const server = await startHoldfast(args, { cwd: site.path, env })
      servers.push(server)
      return server.url
    }

    it('where all goes well', async () => {
      await expectSense({ urls: [await startOnMinio(minio().endpoint)], rounds: 10 })
    })

    it('behind a proxy that loses requests and answers', async () => {
      const seed = randomInt(2 ** 31)
      await using proxy = await startLosingProxy(minio().endpoint, seed)
      await expectSense({ urls: [await startOnMinio(proxy.endpoint)], rounds: 10, seed })
      expect(proxy.lostAnswers(), 'lost answers').to.be.above(10)
    })
  })
})

describe('The test of linearizability', function () {
  this.timeout(5 * minute)

  /** Runs clients at a service whose store has the flaw. */
  async function runAt(
    flaw: (store: BlobStore) => Partial<BlobStore>,
    rounds: number,
  ): Promise<void> {
    const store = createMemoryBlobStore()
    const opened = { store, litter: async () => [], close: async () => {} }
    const anna = { name: 'anna', password: 'correct horse' }
    await using service = await startService(async () => opened, {
      customers: [anna],
      wrap: (sound) => ({ ...sound, ...flaw(sound) }),
    })
    const headers = { 'x-auth-name': anna.name, 'x-auth-password': anna.password }
    await expectSense({ urls: [service.url], rounds, headers })
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

  it('passes a sound store', () => runAt(() => ({}), 20))

  for (const [what, flaw] of Object.entries<(store: BlobStore) => Partial<BlobStore>>({
    'says true of a deletion that found nothing any more': (store) => ({
      async delete(key) {
        const found = await store.stat(key)
        await turn()
        await store.delete(key)
        return found !== undefined
      },
    }),
    'repeats an upload': (store) => ({
      async put(key, content, options) {
        const info = await store.put(key, content, options)
        const blob = await store.open(key)
        setTimeout(() => void (blob && store.put(key, blob.content)), 5)
        return info
      },
    }),
    'repeats a deletion': (store) => ({
      async delete(key) {
        const isRemoved = await store.delete(key)
        setTimeout(() => void store.delete(key), 5)
        return isRemoved
      },
    }),
    'serves what it has kept in memory': (store) => {
      const kept = new Map<string, Awaited<ReturnType<BlobStore['stat']>>>()
      return {
        async stat(key) {
          const info = kept.get(key.name) ?? (await store.stat(key))
          return kept.set(key.name, info).get(key.name)
        },
      }
    },
    'lists what it has listed before': (store) => {
      const kept = new Map<string, Promise<readonly (readonly string[])[]>>()
      return {
        async *list(customer, options) {
          const id = JSON.stringify([customer, options])
          const names = kept.get(id) ?? collect(store.list(customer, options))
          kept.set(id, names)
          yield* await names
        },
      }
    },
    'acknowledges an upload before others see it': (store) => ({
      async put(key, content, options) {
        const bytes = await collect(content)
        const copy = { ...key, customer: 'the copies' }
        const info = await store.put(copy, chunksOf(bytes))
        setTimeout(() => void store.put(key, chunksOf(bytes), options).catch(() => {}), 20)
        return info
      },
    }),
    'lets a creation replace a file that came meanwhile': (store) => ({
      async put(key, content, options) {
        await turn()
        return store.put(key, content, { ...options, createOnly: false })
      },
    }),
  })) {
    it(`finds a store that ${what}`, async () => {
      const failure = await runAt(flaw, 1000).catch((error: unknown) => error)
      expect(String(failure)).to.include('No order explains these answers')
    })
  }
})

async function* chunksOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function collect<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}
