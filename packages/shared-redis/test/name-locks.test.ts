import { expect } from 'chai'
import { openEngine, type Engine, type Script } from '../src/index.ts'
import { startRedis, type RunningRedis } from '@holdfast/testing/redis'
import { createNameLocks } from '../src/quotas/name-locks.ts'
import { lockNameScript, unlockNameScript } from '../src/quotas/quota-scripts.ts'
import { EngineAwayError } from '../src/engine/engine-errors.ts'
import { until } from './shared-engines.ts'

describe('createNameLocks', () => {
  let redis: RunningRedis
  let engine: Engine
  before(async () => {
    redis = await startRedis()
    engine = await openEngine({ url: redis.url, timeoutMs: 5_000 })
  })
  after(async () => {
    await engine.close()
    await redis.stop()
  })

  /** `engine`, that first loses the questions of some scripts. */
  const losing = (script: Script, times: number): Engine => {
    let left = times
    return {
      ...engine,
      async run(what, keys, args) {
        if (what.sha1 === script.sha1 && left-- > 0) throw new EngineAwayError('It is lost')
        return engine.run(what, keys, args)
      },
    }
  }
  const kept = { bytes: 1, files: 1 }

  it('says when a name could not be locked', async () => {
    const lock = await createNameLocks(losing(lockNameScript, 1))('alice', 'a', kept)
    expect(lock.isHeld).to.equal(false)
    const next = await createNameLocks(engine)('alice', 'a', kept)
    expect(next.isHeld).to.equal(true)
    next.unlock()
  })

  it('unlocks in the end although the engine does not answer at first and is not away', async () => {
    const lock = await createNameLocks(losing(unlockNameScript, 1))('alice', 'b', kept)
    lock.unlock()
    let isLocked = false
    void createNameLocks(engine)('alice', 'b', kept).then(({ unlock }) => {
      isLocked = true
      unlock()
    })
    await until(() => isLocked)
  })

  it('never locks a name by a question that comes after its release', async () => {
    const keys = [engine.key('quota', 'alice'), engine.key('name:c', 'alice')]
    const request = { server: 'one', token: 'late', ...kept, dead: [], ttl: 60 }
    const ask = async (token: string) =>
      engine.run(lockNameScript, keys, [JSON.stringify({ ...request, token })])
    await engine.run(unlockNameScript, keys.slice(1), ['late'])
    await ask('late')
    expect(await ask('other')).to.equal('')
    expect(await ask('third')).to.deep.equal(['one', 'other'])
  })

  /** `engine`, as a server sees it that is away whenever the test says so, and whose outbox never learns that it is back. */
  const leavable = () => {
    const unlocks: unknown[] = []
    const state = { isAway: false, polls: 0, unlocks }
    const leaving: Engine = {
      ...engine,
      isAway: () => state.isAway,
      onChange() {},
      async run(what, keys, args) {
        if (what.sha1 === unlockNameScript.sha1) unlocks.push(args?.[0])
        else state.polls++
        if (state.isAway) throw new EngineAwayError('The test says so')
        return engine.run(what, keys, args)
      },
    }
    /** Unlocks while the engine is away, so that no unlocking ever comes to the engine. */
    const unlockInVain = async (unlock: () => void) => {
      state.isAway = true
      unlock()
      await new Promise(setImmediate)
      state.isAway = false
    }
    return { state, locks: createNameLocks(leaving), unlockInVain }
  }

  it('has nothing to unlock where the engine was away before it was asked', async () => {
    const { state, locks } = leavable()
    state.isAway = true
    const lock = await locks('alice', 'd', kept)
    expect(lock.isHeld).to.equal(false)
    lock.unlock()
    expect(state.unlocks).to.deep.equal([])
  })

  it('locks a name again on the same server, whose unlocking was discarded', async () => {
    const { locks, unlockInVain } = leavable()
    const { unlock } = await locks('alice', 'e', kept)
    await unlockInVain(unlock)
    const lock = await locks('alice', 'e', kept)
    expect(lock.isHeld).to.equal(true)
    lock.unlock()
  })

  it('locks a name on another server, of which the unlocking was discarded', async () => {
    const other = await openEngine({ url: redis.url, timeoutMs: 5_000 })
    try {
      const { locks, unlockInVain } = leavable()
      const { unlock } = await locks('alice', 'f', kept)
      await unlockInVain(unlock)
      const lock = await createNameLocks(other)('alice', 'f', kept)
      expect(lock.isHeld).to.equal(true)
      lock.unlock()
    } finally {
      await other.close()
    }
  })

  it('leaves a name locked that is in use, however long others wait', async () => {
    const other = await openEngine({ url: redis.url, timeoutMs: 5_000 })
    try {
      const [own, second] = [leavable(), leavable()]
      const lock = await own.locks('alice', 'g', kept)
      const locked: string[] = []
      const waiters = [own.locks, second.locks, createNameLocks(other)].map(async (locks, at) => {
        const next = await locks('alice', 'g', kept)
        locked.push(`${at}`)
        next.unlock()
      })
      await until(() => own.state.polls > 40 && second.state.polls > 40)
      expect(locked).to.deep.equal([])
      lock.unlock()
      await Promise.all(waiters)
      expect(locked).to.have.members(['0', '1', '2'])
    } finally {
      await other.close()
    }
  })
})
