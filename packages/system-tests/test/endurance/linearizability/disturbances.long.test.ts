import { describeWithMinio } from '@holdfast/testing/minio'
import { type HoldfastServer, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { withSeed } from '../with-seed.ts'
import { expectSenseOf } from './expect-sense.ts'
import { jumpingClock, letClocksJump } from './jumping-clock.ts'
import { createFaultyNetwork, createSlowNetwork } from './network.ts'
import { startPublicationProxy } from './start-publication-proxy.ts'
import { continueAfterStops, stoppingAtSteps } from './stops.ts'

const minute = 60_000

describe('Files that many clients use at once stay linearizable', function () {
  this.timeout(5 * minute)
  const holdfast = useHoldfast()
  const start = async (...args: string[]) => (await holdfast.start(args)).url

  it('on disk, behind a network that delivers requests late and twice', async () => {
    const url = await start()
    await withSeed(async (seed) => {
      const network = createFaultyNetwork()
      await expectSenseOf({ urls: [url], rounds: 15, network, pieces: 50 }, seed)
      const { late, doubled } = network.counts()
      expect(Math.min(late, doubled), 'of each kind').to.be.above(30)
    })
  })

  it('on one directory with two servers, one of which stops amid its work where the other cannot look it up', async () => {
    await withSeed(async (seed) => {
      const options = { hasOwnPidNamespace: true, ...stoppingAtSteps(seed) }
      const sleeper = await holdfast.start([], options)
      const urls = [await start(), sleeper.url] as const
      await using stops = continueAfterStops(sleeper, seed)
      const trial = { urls, rounds: 10, pieces: 70, network: createSlowNetwork(100) }
      await expectSenseOf(trial, seed)
      expect(stops.count(), 'stops').to.be.above(2)
    })
  })

  it('on one directory with two servers whose clocks jump, and which cannot look each other up', async () => {
    await withSeed(async (seed) => {
      const startWithClock = (name: string) =>
        holdfast.start([], { hasOwnPidNamespace: true, ...jumpingClock(seed, name) })
      const servers = [await startWithClock('first'), await startWithClock('second')] as const
      const urls = [servers[0].url, servers[1].url] as const
      using jumps = letClocksJump(servers, seed)
      const trial = { urls, rounds: 16, pieces: 75, network: createSlowNetwork(100) }
      await expectSenseOf({ ...trial, isAnswered: true }, seed)
      expect(jumps.count(), 'jumps').to.be.above(20)
    })
  })

  describeWithMinio('on MinIO', (minio) => {
    it('with two servers, one of which is killed when it has published an upload and not noted that', async () => {
      const { endpoint, accessKey, secretKey } = minio()
      const env = { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
      const bucket = await minio().createBucket()
      const startOn = (place: string) => {
        const args = ['--store', 'minio', '--minio-endpoint', place, '--minio-bucket', bucket]
        return holdfast.start(args, { env })
      }
      await withSeed(async (seed) => {
        let read = async () => {}
        const urls: [string, ...string[]] = [(await startOn(endpoint)).url]
        let mortal: HoldfastServer | undefined
        let kills = 0
        await using proxy = await startPublicationProxy(endpoint, seed, async () => {
          urls.length = 1
          await mortal?.kill()
          mortal = undefined
          kills++
          await read()
        })
        const restart = async () => {
          if (mortal) return
          mortal = await startOn(proxy.endpoint)
          urls.push(mortal.url)
          proxy.arm()
        }
        await restart()
        const trial = { urls, rounds: 4, pause: restart, operations: 12, looksBeforeRemoval: true }
        await expectSenseOf({ ...trial, pieces: 40, onRound: (reading) => (read = reading) }, seed)
        expect(kills, 'kills').to.be.above(0)
      })
    })
  })
})
