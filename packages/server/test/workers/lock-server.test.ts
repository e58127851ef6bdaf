import { describeRevocableLocks } from '@holdfast/contract'
import type { HeldLock } from '@holdfast/core'
import { createSharedLocks as createLocksOfServers, openEngine } from '@holdfast/shared-redis'
import { startRedis } from '@holdfast/testing/redis'
import { expect } from 'chai'
import { createRpcChannel, type Transport } from '../../src/workers/rpc-channel.ts'
import { createLockClient } from '../../src/workers/worker-services.ts'
import {
  createWorkerLocks,
  createLockServer,
  type LockHandlers,
  type ServerLocks,
} from '../../src/workers/locks.ts'

/** Workers of one server that take locks, and timers that end when a test says so. */
function openWorkers(locks?: ServerLocks) {
  const shared = createWorkerLocks(locks)
  const timers = new Set<() => void>()
  const start = (_ms: number, run: () => void) => {
    timers.add(run)
    return () => void timers.delete(run)
  }
  const startWorker = () => {
    const takers: ((message: unknown) => void)[] = []
    const transport = (own: number): Transport => ({
      send: (message) => {
        const copy = JSON.parse(JSON.stringify(message)) as unknown
        queueMicrotask(() => takers[1 - own]?.(copy))
      },
      onMessage: (take) => void (takers[own] = take),
    })
    const server = createLockServer(shared, start)
    createRpcChannel(transport(0), server.answers)
    const takeLock = createLockClient(createRpcChannel<LockHandlers>(transport(1), {}))
    return { takeLock, die: () => server.end() }
  }
  return {
    startWorker,
    timers,
    expire: () => [...timers].forEach((run) => timers.delete(run) && run()),
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Notes in `order` who holds the lock, when it does. */
function noting(order: string[], who: string, lock: Promise<HeldLock>) {
  return lock.then(({ release }) => {
    order.push(who)
    return release
  })
}

describeRevocableLocks(
  'the locks of two workers',
  async () => {
    const { startWorker, expire } = openWorkers()
    const [first, last] = [startWorker(), startWorker()]
    return {
      takers: [first.takeLock, last.takeLock],
      revoke: async () => expire(),
      endFirst: async () => {
        first.die()
        expire()
      },
      dispose: async () => {},
    }
  },
  { isShared: true },
)

/** Two servers with workers, which share their locks. */
async function openServers() {
  const redis = await startRedis()
  const open = () => openEngine({ url: redis.url, leaseMs: 3_000, timeoutMs: 1_000 })
  const engines = [await open(), await open()] as const
  const [one, two] = engines.map((engine) => openWorkers(createLocksOfServers(engine)))
  if (one === undefined || two === undefined) throw new Error('There are no servers')
  return {
    one,
    two,
    /** Resolves when the engine has done what both have sent. */
    async settle() {
      await settle()
      const nothing = { source: 'return 0', sha1: '0'.repeat(40) }
      for (const engine of engines) await engine.run(nothing, [])
    },
    async close() {
      for (const engine of engines) await engine.close()
      await redis.stop()
    },
  }
}

describeRevocableLocks(
  'the locks of workers of two servers',
  async () => {
    const servers = await openServers()
    const [first, last] = [servers.one.startWorker(), servers.two.startWorker()]
    return {
      takers: [
        first.takeLock,
        async (key) => {
          await servers.settle()
          return last.takeLock(key)
        },
      ],
      async revoke() {
        await settle()
        servers.one.expire()
      },
      async endFirst() {
        first.die()
        servers.one.expire()
      },
      dispose: () => servers.close(),
    }
  },
  { isShared: true },
)

describe('createLockServer with the locks of several servers', () => {
  let servers: Awaited<ReturnType<typeof openServers>>
  beforeEach(async () => {
    servers = await openServers()
  })
  afterEach(() => servers.close())

  it('says that a worker is the same holder unless another worker or another server has held the lock', async () => {
    const one = servers.one.startWorker()
    const colleague = servers.one.startWorker()
    const other = servers.two.startWorker()
    const isSame = async ({ takeLock }: typeof one) => {
      const lock = await takeLock('alice')
      lock.release()
      await servers.settle()
      return lock.isSameHolder
    }
    const seen = []
    for (const worker of [one, one, colleague, one, one, other, one, one]) {
      seen.push(await isSame(worker))
    }
    expect(seen).to.deep.equal([false, true, false, false, true, false, false, true])
  })

  it('counts a worker whose lease has expired once, for the workers of all servers, until it releases the lock', async () => {
    const lost = await servers.one.startWorker().takeLock('alice')
    servers.one.expire()
    const lostHolders = async ({ startWorker }: typeof servers.one) => {
      const held = await startWorker().takeLock('alice')
      held.release()
      await servers.settle()
      return held.lostHolders
    }
    expect([await lostHolders(servers.one), await lostHolders(servers.two)]).to.deep.equal([1, 1])
    lost.release()
    await servers.settle()
    expect([await lostHolders(servers.one), await lostHolders(servers.two)]).to.deep.equal([0, 0])
  })
})

describe('createLockServer', () => {
  it('gives the lock of a key to one worker after the other', async () => {
    const { startWorker, timers } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    const order: string[] = []
    const releaseFirst = await noting(order, 'first', first.takeLock('alice'))
    const waiting = noting(order, 'second', second.takeLock('alice'))
    const releaseOther = await noting(order, 'other', second.takeLock('bob'))
    await settle()
    expect(order).to.deep.equal(['first', 'other'])
    releaseFirst()
    const releaseSecond = await waiting
    releaseSecond()
    releaseSecond()
    releaseOther()
    await settle()
    expect(timers.size).to.equal(0)
  })

  it('gives the lock to the next worker when the lease expires, and counts the one that lost it until that releases it', async () => {
    const { startWorker, expire } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    const { release: releaseFirst } = await first.takeLock('alice')
    const waiting = second.takeLock('alice')
    await settle()
    expire()
    const order: string[] = []
    const passedOn = await waiting
    expect(passedOn.lostHolders).to.equal(1)
    const third = noting(order, 'third', first.takeLock('alice'))
    releaseFirst()
    await settle()
    expect(order).to.deep.equal([])
    expect(passedOn.isSameHolder).to.equal(false)
    passedOn.release()
    const releaseThird = await third
    releaseThird()
    expect((await second.takeLock('alice')).lostHolders).to.equal(0)
  })

  it('releases the locks of a worker some time after it has died', async () => {
    const { startWorker, expire } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    await first.takeLock('alice')
    const order: string[] = []
    const waiting = noting(order, 'second', second.takeLock('alice'))
    first.die()
    await settle()
    expect(order).to.deep.equal([])
    expire()
    await waiting
  })

  it('counts a worker that lost a lock no longer some time after it has died', async () => {
    const { startWorker, expire } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    await first.takeLock('alice')
    expire()
    first.die()
    const earlier = await second.takeLock('alice')
    expect(earlier.lostHolders).to.equal(1)
    earlier.release()
    expire()
    expect((await second.takeLock('alice')).lostHolders).to.equal(0)
  })

  it('gives no lock to a worker that has died while it waited', async () => {
    const { startWorker } = openWorkers()
    const [first, second, third] = [startWorker(), startWorker(), startWorker()]
    const { release } = await first.takeLock('alice')
    void second.takeLock('alice')
    const waiting = third.takeLock('alice')
    await settle()
    second.die()
    release()
    await waiting
  })

  it('says whether another worker has held the lock since', async () => {
    const { startWorker } = openWorkers()
    const [one, two] = [startWorker(), startWorker()]
    const take = async ({ takeLock }: typeof one, key: string) => {
      const lock = await takeLock(key)
      lock.release()
      await settle()
      return lock.isSameHolder
    }
    expect(await take(one, 'a')).to.equal(false)
    expect(await take(one, 'a')).to.equal(true)
    expect(await take(two, 'b')).to.equal(false)
    expect(await take(one, 'a')).to.equal(true)
    expect(await take(two, 'a')).to.equal(false)
    expect(await take(one, 'a')).to.equal(false)
  })
})
