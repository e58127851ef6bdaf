import { describeUseCounter } from '@holdfast/contract'
import { FileServiceError } from '@holdfast/core'
import {
  createSharedFailureCounter,
  createSharedLocks,
  createSharedUseCounter,
  openEngine,
  type Engine,
} from '@holdfast/shared-redis'
import { startRedis } from '@holdfast/testing/redis'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { failureKey } from '../../src/login-failure-counter.ts'
import { openPrimary } from './share-primary-services.ts'

const limit = resolveConfig()['max-requests-per-customer']
const tick = () => new Promise((resolve) => setImmediate(resolve))

/** Resolves when `receiver` has got what `sender` has sent. */
function createMarkers(engines: readonly Engine[]) {
  const arrivals = new Map<string, () => void>()
  let count = 0
  for (const engine of engines) {
    engine.onMessage('test-marker', (marker) => arrivals.get(String(marker))?.())
  }
  return async () => {
    for (const engine of engines) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const marker = `${count++}`
      arrivals.set(marker, () => resolve(undefined))
      engine.notify('test-marker', marker)
      await promise
    }
  }
}

/** Two servers with workers, which count together. */
async function openServers() {
  const redis = await startRedis()
  const open = () => openEngine({ url: redis.url, timeoutMs: 1_000 })
  const engines = [await open(), await open()] as const
  const sendMarkers = createMarkers(engines)
  const start = (engine: Engine) => {
    const counters = {
      perCustomer: createSharedUseCounter(engine, { name: 'perCustomer', limit }),
      // Others must know of each upload that grows, or they may discard it.
      growingUploads: createSharedUseCounter(engine, { name: 'growingUploads', limit: 1 }),
    }
    const startWorker = openPrimary({
      failures: createSharedFailureCounter(engine, { windowMs: 60_000, keyOf: failureKey }),
      counters,
      locks: createSharedLocks(engine),
    })
    return { startWorker, close: () => Object.values(counters).forEach((one) => one.close()) }
  }
  const [one, two] = [start(engines[0]), start(engines[1])]
  return {
    one,
    two,
    /** Resolves when all workers know what the others had reported. */
    settle: async () => {
      // A worker reports to its primary, that one to the other primary at the end of a tick, and that one to its workers.
      await tick()
      await tick()
      await sendMarkers()
      await tick()
    },
    close: async () => {
      one.close()
      two.close()
      for (const engine of engines) await engine.close()
      await redis.stop()
    },
  }
}

describeUseCounter(
  'the counter of workers of two servers',
  async () => {
    const { one, two, settle, close } = await openServers()
    const workers = [one.startWorker(0), one.startWorker(1), two.startWorker(0)]
    return {
      counters: workers.map(({ requestCounters }) => requestCounters.perCustomer),
      // An eighth that workers have not reported to their primary, and an eighth that primaries have not reported to each other.
      allowance: Math.ceil(limit / 4) - 1,
      settle,
      endLast: async () => workers[2]?.die(),
      dispose: close,
    }
  },
  { isShared: true },
)

describe('createPrimaryServices with the services of several servers', () => {
  let servers: Awaited<ReturnType<typeof openServers>>
  beforeEach(async () => {
    servers = await openServers()
  })
  afterEach(() => servers.close())

  const guess = async ({ verifyPassword }: ReturnType<typeof servers.one.startWorker>) =>
    verifyPassword('guess', undefined, { name: 'anna', address: '192.0.2.1' })

  it('counts a guess for the workers of all servers', async () => {
    const [own, colleague, other] = [
      servers.one.startWorker(0),
      servers.one.startWorker(1),
      servers.two.startWorker(0),
    ]
    expect(await guess(own)).to.equal(false)
    await servers.settle()
    const later = servers.two.startWorker(1)
    for (const { failures } of [own, colleague, other, later]) {
      expect(await failures.read('address 192.0.2.1')).to.include({ failures: 1 })
    }
  })

  it('refuses guesses on all servers after as many as one server allows', async () => {
    const workers = [servers.one.startWorker(), servers.two.startWorker()] as const
    const results: string[] = []
    for (let n = 0; n < 12; n++) {
      const result = await guess(workers[n % 2 === 0 ? 0 : 1]).catch((error: unknown) => error)
      results.push(result instanceof FileServiceError ? result.code : String(result))
    }
    // Ten failures of a name are allowed.
    expect(results).to.deep.equal([
      ...Array.from({ length: 10 }, () => 'false'),
      'too-many-attempts',
      'too-many-attempts',
    ])
  })

  it('counts a wrong link for the workers of all servers', async () => {
    const [own, other] = [servers.one.startWorker(), servers.two.startWorker()]
    await own.linkFailures.add('link 192.0.2.1')
    await servers.settle()
    expect(await other.linkFailures.read('link 192.0.2.1')).to.include({ failures: 1 })
  })

  it('sends a worker that starts later what other servers count', async () => {
    servers.one.startWorker().links?.growingUploads?.change('anna/1', 1)
    await servers.settle()
    const other = servers.two.startWorker()
    await tick()
    expect(other.links?.growingUploads?.count('anna/1')).to.equal(1)
  })

  it('counts for each server by itself what the servers do not share', async () => {
    const [own, colleague, other] = [
      servers.one.startWorker(0),
      servers.one.startWorker(1),
      servers.two.startWorker(0),
    ]
    for (let n = 0; n < 1_000; n++) own.requestCounters.all.change(1)
    await servers.settle()
    expect(colleague.requestCounters.all.count()).to.be.above(0)
    expect(other.requestCounters.all.count()).to.equal(0)
  })

  it('locks for the workers of all servers', async () => {
    const [own, other] = [servers.one.startWorker(), servers.two.startWorker()]
    const held = await own.links?.publishLocks?.('anna')
    const waiting = other.links?.publishLocks?.('anna')
    let isTaken = false
    void waiting?.then(() => (isTaken = true))
    await servers.settle()
    expect(isTaken).to.equal(false)
    held?.release()
    const next = await waiting
    expect(next?.isSameHolder).to.equal(false)
    next?.release()
  })
})
