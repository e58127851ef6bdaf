import { describeWithMinio } from '@holdfast/testing/minio'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import {
  createSite,
  type HoldfastServer,
  rejection,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'
import { startService } from '../../black-box/support/running-service.ts'
import { brokenByLateRequests, brokenStores, brokenUploads, type Flaw } from './broken-stores.ts'
import { expectSense, expectSenseOf, type Trial } from './expect-sense.ts'
import { withSeed } from '../with-seed.ts'
import { createFaultyNetwork } from './network.ts'
import { startLosingProxy } from './start-losing-proxy.ts'

const minute = 60_000

describe('Files that many clients use at once are linearizable', function () {
  this.timeout(5 * minute)
  let site: Site
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async function () {
    const hasFailed = this.currentTest?.isFailed() === true
    for (const server of servers.splice(0)) {
      await server.kill()
      const errors = server.lines().filter(({ level }) => Number(level) >= 50)
      if (hasFailed) console.log(JSON.stringify(errors, undefined, 2))
    }
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
    let bucket: string
    beforeEach(async () => {
      bucket = await minio().createBucket()
    })
    const startOnMinio = async (endpoint: string, ...more: string[]) => {
      const { accessKey, secretKey } = minio()
      const place = ['--minio-endpoint', endpoint, '--minio-bucket', bucket]
      const args = ['--store', 'minio', ...place, ...more]
      const env = { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
      const server = await startHoldfast(args, { cwd: site.path, env })
      servers.push(server)
      return server.url
    }

    // Processes that share a bucket cannot make the look and the removal of a deletion one step: decision 021.
    it('where all goes well', async () => {
      await expectSense({ urls: [await startOnMinio(minio().endpoint)], rounds: 10 })
    })

    it('with --workers', async () => {
      const url = await startOnMinio(minio().endpoint, '--workers', '2')
      await expectSense({ urls: [url], rounds: 15, looksBeforeRemoval: true })
    })

    it('in one bucket with two servers', async () => {
      const { endpoint } = minio()
      const urls = [await startOnMinio(endpoint), await startOnMinio(endpoint)] as const
      await expectSense({ urls, rounds: 15, looksBeforeRemoval: true })
    })

    it('behind a proxy that loses requests and answers', async () => {
      await withSeed(async (seed) => {
        await using proxy = await startLosingProxy(minio().endpoint, seed)
        const url = await startOnMinio(proxy.endpoint)
        proxy.lose()
        await expectSenseOf({ urls: [url], rounds: 10 }, seed)
        expect(proxy.lostAnswers(), 'lost answers').to.be.above(10)
      })
    })
  })
})

describe('The test of linearizability', function () {
  this.timeout(5 * minute)

  /** Runs clients at a service whose store has the flaw. */
  async function runAt(
    flaw: Flaw,
    rounds: number,
    disturbances?: Pick<Trial, 'network' | 'pieces'>,
  ): Promise<void> {
    const store = createMemoryBlobStore()
    const opened = { store, litter: async () => [], close: async () => {} }
    const anna = { name: 'anna', password: 'correct horse' }
    await using service = await startService(async () => opened, {
      customers: [anna],
      wrap: (sound) => ({ ...sound, ...flaw(sound) }),
    })
    const headers = { 'x-auth-name': anna.name, 'x-auth-password': anna.password }
    await expectSense({ urls: [service.url], rounds, headers, ...disturbances })
  }
  it('passes a sound store', () => runAt(() => ({}), 20))

  for (const [what, flaw] of Object.entries(brokenStores)) {
    it(`finds a store that ${what}`, async () => {
      const failure = await rejection(runAt(flaw, 1000))
      expect(String(failure)).to.include('No order explains these answers')
    })
  }

  it('finds a store that gives two contents one entity tag', async () => {
    const flaw: Flaw = (store) => ({
      async open(key, options) {
        const blob = await store.open(key, options)
        return blob && { ...blob, info: { ...blob.info, etag: 'same' } }
      },
    })
    const failure = await rejection(runAt(flaw, 1000))
    expect(String(failure)).to.match(/The entity tag \S+ means \S+ and /)
  })

  const disturbed = () => ({ network: createFaultyNetwork(), pieces: 60 })
  it('passes a sound store behind a network that delivers requests late and twice', () =>
    runAt(() => ({}), 10, disturbed()))

  for (const [what, flaw] of Object.entries(brokenByLateRequests)) {
    it(`finds, behind such a network, a store that ${what}`, async () => {
      const failure = await rejection(runAt(flaw, 1000, disturbed()))
      expect(String(failure)).to.include('No order explains these answers')
    })
  }

  for (const [what, [flaw, finding]] of Object.entries(brokenUploads)) {
    it(`finds a store that ${what}`, async () => {
      const failure = await rejection(runAt(flaw, 1000))
      expect(String(failure)).to.match(/The upload \S+ /)
      expect(String(failure)).to.include(finding)
    })
  }
})
