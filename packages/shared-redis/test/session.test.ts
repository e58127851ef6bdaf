import { until, rejection } from '@holdfast/testing'
import { startSentinels, startRedisCluster, type RunningCluster } from '@holdfast/testing/redis'
import { expect } from 'chai'
import { slotOf } from '../src/engine/session.ts'
import { script, EngineAwayError } from '../src/index.ts'
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

const both = script("return redis.call('INCR', KEYS[1]) + redis.call('INCR', KEYS[2])")

describe('openEngine with a Cluster', function () {
  const engines = useEngines()
  let cluster: RunningCluster
  before(async () => {
    cluster = await startRedisCluster()
  })
  after(() => cluster.stop())
  const customers = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'Zoë', 'a}{b']

  it('runs scripts on the node that has the keys', async () => {
    const engine = await engines.open({ url: cluster.url, prefix: 'run' })
    for (const customer of customers) {
      const keys = ['one', 'two'].map((name) => engine.key(name, customer))
      expect(await engine.run(both, keys)).to.equal(2)
    }
    const sizes = await Promise.all(cluster.servers.map((server) => server.run('DBSIZE')))
    expect(sizes).to.not.include('0')
  })

  it('shows each server the others, and sends them messages', async () => {
    const url = cluster.url.split(',').at(-1) ?? ''
    const first = await engines.open({ url: cluster.url, prefix: 'see' })
    const second = await engines.open({ url: `redis+cluster://${url}`, prefix: 'see' })
    await until('they see each other', () => first.servers.count() === 2)
    expect(first.history()).to.equal(second.history())
    expect(first.history().split(' ')).to.have.length(3)
    const received: unknown[] = []
    second.onMessage('topic', (message) => void received.push(message))
    first.notify('topic', 1)
    await until('it has arrived', () => received.length === 1)
  })

  it('follows keys that move to another node, and is not away', async () => {
    const engine = await engines.open({ url: cluster.url, prefix: 'move' })
    const changes = changesOf(engine)
    const key = engine.key('number', 'alice')
    const history = engine.history()
    expect(await engine.run(increment, [key])).to.equal(1)
    for (const server of cluster.servers) {
      const number = Number(await engine.run(increment, [key]))
      await cluster.moveSlot(slotOf(key), server, async () => {
        expect(await engine.run(increment, [key])).to.equal(number + 1)
      })
      expect(await engine.run(increment, [key])).to.be.above(number)
    }
    expect(engine.history()).to.equal(history)
    expect(changes).to.deep.equal([])
  })

  it('throws an error for keys of several nodes', async () => {
    const engine = await engines.open({ url: cluster.url, prefix: 'cross' })
    const keys = customers.map((customer) => engine.key('number', customer))
    const error = await rejection(engine.run(both, keys))
    expect(error.message).to.include('CROSSSLOT')
    expect(engine.isAway()).to.equal(false)
  })

  it('is away while one node is, and has another history afterwards', async () => {
    const engine = await engines.open({ url: cluster.url, prefix: 'down' })
    const before = engine.history()
    const [, server] = cluster.servers
    await server?.kill()
    await until('it notices', () => engine.isAway())
    const error = await rejection(engine.run(increment, [engine.key('number', 'alice')]))
    expect(error).to.be.instanceOf(EngineAwayError)
    await server?.restart()
    await until('the engine is back', () => !engine.isAway())
    expect(engine.history()).to.not.equal(before)
    for (const customer of customers) {
      expect(await engine.run(increment, [engine.key('number', customer)])).to.equal(1)
    }
  })
})

describe('slotOf', () => {
  const engines = useEngines()

  it('is the slot that the engine computes', async () => {
    const cluster = await startRedisCluster()
    engines.onEnd(() => cluster.stop())
    const [server] = cluster.servers
    const keys = [
      '',
      'a',
      '123456789',
      '{a}b',
      'b{a}',
      '{}a',
      'a{}b{c}',
      '{a',
      'a}b{c',
      '{{a}}',
      'Zoë',
      '€{ß}',
    ]
    for (const key of keys) {
      expect(await server?.run('CLUSTER', 'KEYSLOT', key), key).to.equal(String(slotOf(key)))
    }
  })
})
