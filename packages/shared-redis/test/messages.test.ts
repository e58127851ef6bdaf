import { expect } from 'chai'
import { until } from '@holdfast/testing'
import type { Engine } from '../src/index.ts'
import { urlOf, useEngines } from './support/use-engines.ts'

describe('Engine.notify', () => {
  const engines = useEngines()

  const receivedBy = (engine: Engine) => {
    const received: (readonly [message: unknown, server: string])[] = []
    engine.onMessage('topic', (message, server) => void received.push([message, server]))
    return received
  }
  const missedBy = (engine: Engine) => {
    let count = 0
    engine.onMissed(() => count++)
    return () => count
  }
  /** Two servers, the second of which reaches the engine through a proxy. */
  const pair = async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    const first = await engines.open({ url: redis.url })
    const second = await engines.open({ url: urlOf(proxy) })
    return { redis, proxy, first, second }
  }

  it('sends a message to the other servers, in order, and not to this one', async () => {
    const { first, second } = await pair()
    const [own, received] = [receivedBy(first), receivedBy(second)]
    first.notify('topic', { a: 1 })
    first.notify('other topic', 0)
    first.notify('topic', undefined)
    first.notify('topic', 'last')
    await until('they have arrived', () => received.length === 3)
    const { own: server } = first.servers
    expect(received).to.deep.equal([
      [{ a: 1 }, server],
      [undefined, server],
      ['last', server],
    ])
    expect(own).to.deep.equal([])
  })

  it('reaches no servers with another prefix or another database', async () => {
    const { redis, first } = await pair()
    const others = [
      await engines.open({ url: redis.url, prefix: 'other' }),
      await engines.open({ url: `${redis.url}/1` }),
    ]
    const received = others.map(receivedBy)
    const third = await engines.open({ url: redis.url })
    const heard = receivedBy(third)
    first.notify('topic', 1)
    await until('it has arrived', () => heard.length === 1)
    expect(received).to.deep.equal([[], []])
  })

  it('subscribes again after the connection was lost, and says that messages may be missing', async () => {
    const { proxy, first, second } = await pair()
    const [received, missed] = [receivedBy(second), missedBy(second)]
    proxy.cut()
    await until('it says so', () => missed() > 0)
    first.notify('topic', 1)
    await until('it has arrived', () => received.length === 1)
  })

  it('notices a subscription of which the network has forgotten', async () => {
    const { proxy, first, second } = await pair()
    const [received, missed] = [receivedBy(second), missedBy(second)]
    proxy.partition()
    await until('the engine is away', () => second.isAway())
    first.notify('topic', 'lost')
    proxy.release()
    await until('it says so', () => missed() > 0)
    first.notify('topic', 'next')
    await until('it has arrived', () => received.length > 0)
    expect(received[0]?.[0]).to.equal('next')
  })

  it('shows the others that a message was lost while the sender could not reach the engine', async () => {
    const { proxy, first, second } = await pair()
    const [received, missed] = [receivedBy(first), missedBy(first)]
    second.notify('topic', 1)
    await until('it has arrived', () => received.length === 1)
    proxy.partition()
    await until('the engine is away', () => second.isAway())
    second.notify('topic', 2)
    proxy.release()
    await until('the engine is back', () => !second.isAway())
    second.notify('topic', 3)
    await until('it has arrived', () => received.length === 2)
    expect(missed()).to.be.above(0)
  })

  it('ignores what other programs publish, and counts it', async () => {
    const { redis, first, second } = await pair()
    const received = receivedBy(first)
    const junk = ['', '{', '7', 'null', '[]', '{"server":"x"}', '{"server":"x","topic":"topic"}']
    for (const text of junk) await redis.run('PUBLISH', 'holdfast:messages:0', text)
    await until('all are counted', () => first.ignoredMessages() === junk.length)
    first.onMessage('strange', (message) => {
      throw new TypeError(`What is ${String(message)}?`)
    })
    second.notify('strange', 1)
    second.notify('topic', 'last')
    await until('the last has arrived', () => received.length === 1)
    expect(first.ignoredMessages()).to.equal(junk.length + 1)
    expect(first.isAway()).to.equal(false)
  })

  it('says that messages may be missing when the engine was down at the start', async () => {
    const redis = await engines.redis()
    await redis.kill()
    const engine = await engines.open({ url: redis.url })
    const missed = missedBy(engine)
    await redis.restart()
    await until('it says so', () => missed() === 1)
  })
})
