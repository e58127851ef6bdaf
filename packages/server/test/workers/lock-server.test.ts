import { describeRevocableLocks } from '@holdfast/contract'
import type { HeldLock } from '@holdfast/core'
import { expect } from 'chai'
import { createRpcChannel, type Transport } from '../../src/workers/rpc-channel.ts'
import { createLockClient } from '../../src/workers/worker-services.ts'
import {
  createSharedLocks,
  createLockServer,
  type LockHandlers,
} from '../../src/workers/lock-server.ts'

/** Workers that take locks, and timers that end when a test says so. */
function openWorkers() {
  const shared = createSharedLocks()
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
