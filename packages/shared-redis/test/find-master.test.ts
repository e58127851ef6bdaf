import { expect } from 'chai'
import { until } from '@holdfast/testing'
import { rejection } from '@holdfast/testing'
import { startSentinels } from '@holdfast/testing/redis'
import { script } from '../src/index.ts'
import { changesOf, useEngines } from './support/use-engines.ts'

const increment = script("return redis.call('INCR', KEYS[1])")

describe('openEngine with Sentinels', () => {
  const engines = useEngines()
  const start = async () => {
    const sentinels = await startSentinels()
    engines.onEnd(() => sentinels.stop())
    return sentinels
  }

  it('follows the master that they name', async () => {
    const sentinels = await start()
    const first = await engines.open({ url: sentinels.url })
    const second = await engines.open({ url: sentinels.url })
    const changes = changesOf(first)
    const received: unknown[] = []
    second.onMessage('topic', (message) => void received.push(message))
    let missed = 0
    second.onMissed(() => missed++)
    expect(await first.run(increment, ['number'])).to.equal(1)
    const before = first.history()

    await sentinels.failover()
    for (const engine of [first, second]) {
      await until('it follows', () => !engine.isAway() && engine.history() !== before)
    }
    expect(first.history()).to.equal(second.history())
    // More than once, if it asked a Sentinel that did not know it yet.
    const away = changes.map(([isAway]) => isAway)
    expect(away).to.deep.equal(away.map((_, nth) => nth % 2 === 0))
    expect(away.at(-1)).to.equal(false)
    expect(await first.run(increment, ['only here'])).to.equal(1)
    const master = await sentinels.master()
    expect(await master.run('GET', 'only here')).to.equal('1')
    await until('messages may be missing', () => missed > 0)
    first.notify('topic', 1)
    await until('messages arrive', () => received.length === 1)
  })

  it('follows another master when the first is killed, and one Sentinel cannot be reached', async () => {
    const sentinels = await start()
    const url = sentinels.url.replace('//', '//127.0.0.1:1,')
    const engine = await engines.open({ url })
    const before = engine.history()
    const master = await sentinels.master()
    await master.kill()
    await until('it notices', () => engine.isAway())
    await until('it follows', () => !engine.isAway())
    expect(engine.history()).to.not.equal(before)
    expect(await engine.run(increment, ['number'])).to.equal(1)
  })

  it('says that the Sentinels want a password of their own', async () => {
    // A server with a password refuses a question in the same words.
    const { port } = await engines.redis({ password: 's3cret' })
    const url = `redis+sentinel://127.0.0.1:${port}/main`
    const refusal = async (options: { readonly sentinelPassword?: string }) =>
      String(await rejection(engines.open({ url, password: 's3cret', ...options })))
    expect(await refusal({})).to.match(/Sentinel .* refuses .*HOLDFAST_SHARED_SENTINEL_PASSWORD/)
    expect(await refusal({ sentinelPassword: 's3cret' })).to.match(/is no Sentinel/)
  })
})
