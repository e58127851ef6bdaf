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
    expect(await ask('third')).to.equal('one')
  })
})
