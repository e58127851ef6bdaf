import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setImmediate as nextTick, setTimeout as delay } from 'node:timers/promises'
import { describeRevocableLocks } from '@holdfast/contract'
import { createSharedLocks, type SharedLocks } from '../src/index.ts'
import { expect } from 'chai'
import { lockInEngine } from '../src/locks.ts'
import { nothing, openEngines, until } from './shared-engines.ts'

async function openLocks(servers: number) {
  const shared = await openEngines(servers)
  const all = shared.engines.map((engine) => createSharedLocks(engine))
  const take = (n: number, key = 'alice') => {
    const locks: SharedLocks | undefined = all[n]
    if (locks === undefined) throw new RangeError(`There are no locks ${n}`)
    return locks(key)
  }
  /** Lets the others see the server `n` as dead. */
  const declareDead = (n: number) => {
    const { own } = shared.engine(n).servers
    for (const engine of shared.engines) {
      engine.servers.isDead = (server) => server === own && engine.servers.own !== own
    }
  }
  return { ...shared, take, declareDead }
}

/** Whether `promise` has settled. */
function settled(promise: Promise<unknown>): () => boolean {
  let isSettled = false
  void promise.finally(() => (isSettled = true)).catch(() => {})
  return () => isSettled
}

for (const servers of [2, 3]) {
  describeRevocableLocks(
    `the locks of ${servers} servers`,
    async () => {
      const { take, engine, engines, declareDead, close } = await openLocks(servers)
      const first = (key: string) => take(0, key)
      // The last server takes a lock after the engine has got what the others have sent before.
      const others = engines.slice(1).map((_engine, n) => async (key: string) => {
        await engine(0)
          .run(nothing, [])
          .catch(() => {})
        return take(n + 1, key)
      })
      return {
        takers: [first, ...others],
        revoke: async () => declareDead(0),
        async endFirst() {
          declareDead(0)
          await engine(0).close()
        },
        dispose: close,
      }
    },
    { isShared: true },
  )
}

describe('createSharedLocks', () => {
  let shared: Awaited<ReturnType<typeof openLocks>>
  beforeEach(async () => {
    shared = await openLocks(3)
  })
  afterEach(() => shared.close())

  const areAway = (isAway: boolean) =>
    until(() => shared.engines.every((engine) => engine.isAway() === isAway))

  it('gives the lock to one server at a time', async () => {
    const { take } = shared
    let holders = 0
    let most = 0
    const work = async (n: number) => {
      const { release } = await take(n % 3)
      most = Math.max(most, ++holders)
      await nextTick()
      holders--
      release()
    }
    await Promise.all(Array.from({ length: 150 }, (_, n) => work(n)))
    expect(most).to.equal(1)
  })

  it('gives the lock to a server that waits before the last holder gets it again', async () => {
    const { take } = shared
    let isOver = false
    let takes = 0
    const hold = async () => {
      const { release } = await take(0)
      takes++
      await delay(5)
      release()
    }
    const busy = (async () => {
      const queue = Array.from({ length: 5 }, async () => {
        while (!isOver) await hold()
      })
      await Promise.all(queue)
    })()
    await until(() => takes > 3)
    const before = takes
    const { release } = await take(1)
    const meanwhile = takes - before
    release()
    isOver = true
    await busy
    // One or two before the waiting server has asked for the first time.
    expect(meanwhile).to.be.below(20)
  })

  it('says that a holder is the same after its own holding, and not after that of another server', async () => {
    const { take, settle } = shared
    const isSame = async (n: number) => {
      const held = await take(n)
      held.release()
      await settle()
      return held.isSameHolder
    }
    const seen = []
    for (const n of [0, 0, 1, 0, 0]) seen.push(await isSame(n))
    expect(seen).to.deep.equal([false, true, false, false, true])
  })

  it('counts a holder that has lost the lock by `lose`, on all servers, until it releases it', async () => {
    const { take, settle } = shared
    const lost = await take(0)
    lost.lose()
    lost.lose()
    const next = await take(1)
    expect([next.lostHolders, next.isSameHolder]).to.deep.equal([1, false])
    next.release()
    lost.release()
    await settle()
    const last = await take(0)
    expect([last.lostHolders, last.isSameHolder]).to.deep.equal([0, false])
    last.release()
  })

  it('takes a lock once however often the same take is sent', async () => {
    const { engine, take } = shared
    const lock = lockInEngine(engine(0), 'alice')
    const first = await lock.take('token', 'me', '')
    expect(await lock.take('token', 'me', '')).to.deep.equal(first)
    expect(first).to.deep.equal({ isTaken: true, isSameHolder: false, lostHolders: 0 })
    expect(await lock.release('token', true)).to.equal(true)
    expect(await lock.release('token', true)).to.equal(false)
    const held = await take(1)
    held.release()
  })

  it('frees a lock of a living server that its holder has released before it was taken', async () => {
    const { engine, take } = shared
    // As if the engine had got the take late.
    await lockInEngine(engine(0), 'alice').take('forgotten', 'me', '')
    const held = await take(1)
    held.release()
    await lockInEngine(engine(0), 'bert').take('forgotten', 'me', '')
    const own = await take(0, 'bert')
    own.release()
  })

  it('keeps no key longer than an hour', async () => {
    const { engine, take, settle } = shared
    const lost = await take(0)
    lost.lose()
    const held = await take(1)
    await settle()
    const ttl = {
      source: `
local ttls = {}
for at, key in ipairs(redis.call('KEYS', '*lock*')) do ttls[at] = redis.call('PTTL', key) end
return ttls`,
      sha1: '0'.repeat(40),
    }
    const ttls = (await engine(0).run(ttl, [])) as number[]
    expect(ttls.length).to.be.within(3, 4)
    for (const one of ttls) expect(one).to.be.within(1, 3_600_000)
    held.release()
    lost.release()
  })

  it('is a lock of each server alone while the engine does not answer', async () => {
    const { take, redis } = shared
    const earlier = await take(0)
    earlier.release()
    process.kill(redis.pid(), 'SIGSTOP')
    const held = await Promise.all([take(0), take(1)])
    expect(held.map(({ isSameHolder }) => isSameHolder)).to.deep.equal([false, false])
    const queued = take(0)
    const isTaken = settled(queued)
    process.kill(redis.pid(), 'SIGCONT')
    await areAway(false)
    await shared.settle()
    expect(isTaken(), 'the local holder has not released it').to.equal(false)
    for (const { release } of held) release()
    const { isSameHolder, release } = await queued
    expect(isSameHolder).to.equal(false)
    release()
    const { release: releaseOther } = await take(2)
    releaseOther()
  })

  it('says that no holder is the same after an outage', async () => {
    const { take, redis, settle } = shared
    const before = await take(0)
    before.release()
    await settle()
    process.kill(redis.pid(), 'SIGSTOP')
    await areAway(true)
    process.kill(redis.pid(), 'SIGCONT')
    await areAway(false)
    const after = await take(0)
    expect(after.isSameHolder).to.equal(false)
    after.release()
    await settle()
    const again = await take(0)
    expect(again.isSameHolder).to.equal(true)
    again.release()
  })

  it('has the lock of its holder again after the engine has lost its data', async () => {
    const { take, redis, settle, engine } = shared
    const held = await take(0)
    await redis.kill()
    await areAway(true)
    await redis.startAgain()
    await areAway(false)
    await settle()
    await until(async () => {
      const answer = await lockInEngine(engine(2), 'alice').take('probe', 'me', '')
      if (answer.isTaken) await lockInEngine(engine(2), 'alice').release('probe', false)
      return !answer.isTaken
    })
    const waiting = take(1)
    const isTaken = settled(waiting)
    await settle()
    expect(isTaken()).to.equal(false)
    held.release()
    const next = await waiting
    next.release()
  })

  it('releases in the engine what was released while that was away', async () => {
    const { take, redis } = shared
    const held = await take(0)
    process.kill(redis.pid(), 'SIGSTOP')
    held.release()
    await areAway(true)
    process.kill(redis.pid(), 'SIGCONT')
    await areAway(false)
    const next = await take(1)
    expect(next.lostHolders).to.equal(0)
    next.release()
  })

  it('takes the lock of a suspended server over, and counts that one until it continues and releases it', async () => {
    const { take, redis } = shared
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'children/suspended-server.ts'), redis.url],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    )
    try {
      await once(child.stdout, 'data')
      child.kill('SIGSTOP')
      const next = await take(0)
      expect([next.lostHolders, next.isSameHolder]).to.deep.equal([1, false])
      next.release()
      child.kill('SIGCONT')
      child.stdin.write('release\n')
      await until(async () => {
        const held = await take(1)
        held.release()
        return held.lostHolders === 0
      })
    } finally {
      await end(child)
    }
  })
})

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
