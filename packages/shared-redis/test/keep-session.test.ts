import { setImmediate as tick } from 'node:timers/promises'
import { expect } from 'chai'
import { rejection, until } from '@holdfast/testing'
import { EngineAwayError, script, type Engine } from '../src/index.ts'
import { changesOf, urlOf, useEngines } from './support/use-engines.ts'

const increment = script("return redis.call('INCR', KEYS[1])")

describe('Engine', () => {
  const engines = useEngines()
  const run = (engine: Engine) => engine.run(increment, [engine.key('number', 'alice')])

  it('runs a script', async () => {
    const { url } = await engines.redis()
    const engine = await engines.open({ url })
    expect(await run(engine)).to.equal(1)
    expect(await run(engine)).to.equal(2)
    const echo = script('return {KEYS[1], ARGV[1], ARGV[2]}')
    expect(await engine.run(echo, ['a'], [7, 'x'])).to.deep.equal(['a', '7', 'x'])
  })

  it('names keys so that those of one customer have one hash tag, and none is that of another', async () => {
    const { url } = await engines.redis()
    const engine = await engines.open({ url, prefix: 'files' })
    expect(engine.key('servers')).to.equal('files:servers')
    expect(engine.key('bytes', 'alice')).to.equal('files:{alice}:bytes')
    expect(engine.key('bytes', 'a}:{b%')).to.equal('files:{a%7D:%7Bb%25}:bytes')
  })

  it('throws the error of a script that is wrong, and is not away', async () => {
    const { url } = await engines.redis()
    const engine = await engines.open({ url })
    const error = await rejection(engine.run(script("return redis.call('NO')"), ['a']))
    expect(error).to.not.be.instanceOf(EngineAwayError)
    expect(error.message).to.include('Unknown Redis command')
    expect(engine.isAway()).to.equal(false)
  })

  it('waits for an engine that stands still for a quarter of a second, and then not at all', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    const changes = changesOf(engine)
    redis.suspend()
    const began = performance.now()
    const error = await rejection(run(engine))
    expect(performance.now() - began).to.be.within(200, 2_000)
    expect(error).to.be.instanceOf(EngineAwayError)
    expect(error.message).to.include('no answer within 250 ms')
    const next = rejection(run(engine)).then(() => 'at once')
    expect(await Promise.race([next, tick('later')])).to.equal('at once')
    expect(engine.isAway()).to.equal(true)
    redis.resume()
    await until('the engine is back', () => !engine.isAway())
    expect(await run(engine)).to.be.above(0)
    expect(changes).to.deep.equal([
      [true, 'no answer within 250 ms'],
      [false, ''],
    ])
  })

  it('does not take the engine for away where this process itself stood still', async () => {
    // The proxy is a part of this process: it forwards the command only afterwards.
    const proxy = await engines.proxy(await engines.redis())
    const engine = await engines.open({ url: urlOf(proxy) })
    const changes = changesOf(engine)
    await run(engine)
    const running = run(engine)
    const end = performance.now() + 600
    while (performance.now() < end);
    expect(await running).to.equal(2)
    expect(changes).to.deep.equal([])
  })

  it('notices by itself that the engine stands still, and that it goes on', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    redis.suspend()
    await until('it notices', () => engine.isAway())
    redis.resume()
    await until('the engine is back', () => !engine.isAway())
  })

  it('rejects what is under way when the connection breaks, and connects again with the same history', async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    const engine = await engines.open({ url: urlOf(proxy) })
    const changes = changesOf(engine)
    const history = engine.history()
    proxy.hold('down')
    const underWay = rejection(run(engine))
    proxy.cut()
    proxy.release()
    expect(await underWay).to.be.instanceOf(EngineAwayError)
    await until('the engine is back', () => changes.length === 2)
    expect(changes).to.deep.equal([
      [true, 'connection lost'],
      [false, ''],
    ])
    expect(engine.history()).to.equal(history)
    expect(await run(engine)).to.be.above(0)
  })

  for (const direction of ['up', 'down'] as const) {
    it(`gives a connection up that forwards nothing more (${direction})`, async () => {
      const redis = await engines.redis()
      const proxy = await engines.proxy(redis)
      const engine = await engines.open({ url: urlOf(proxy) })
      const before = proxy.accepted()
      proxy.hold(direction)
      const error = await rejection(run(engine))
      expect(error).to.be.instanceOf(EngineAwayError)
      await until('it connects again', () => proxy.accepted() > before)
      proxy.release()
      await until('the engine is back', () => !engine.isAway())
    })
  }

  it('gives a connection up of which the network has forgotten', async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    const engine = await engines.open({ url: urlOf(proxy) })
    proxy.partition()
    await until('it notices', () => engine.isAway())
    proxy.release()
    await until('the engine is back', () => !engine.isAway())
    expect(await run(engine)).to.be.above(0)
  })

  it('is away while answers take too long', async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    const engine = await engines.open({ url: urlOf(proxy) })
    proxy.delay(300)
    await until('it notices', () => engine.isAway())
    expect(await rejection(run(engine))).to.be.instanceOf(EngineAwayError)
    proxy.release()
    await until('the engine is back', () => !engine.isAway())
  })

  it('runs no script on an engine with another history than it says', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    const runId = script("return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')")
    const found: string[] = []
    let isOver = false
    const asking = (async () => {
      while (!isOver) {
        await tick()
        const history = engine.history()
        const id = await engine.run(runId, ['a']).catch(() => undefined)
        if (typeof id === 'string') found.push(history.startsWith(`${id}.`) ? history : 'wrong')
      }
    })()
    const histories = new Set<string>()
    for (let round = 0; round < 5; round++) {
      const before = found.length
      await until('scripts run', () => found.length > before + 10)
      histories.add(engine.history())
      await redis.restart()
      await until('the engine is back', () => !histories.has(engine.history()) && !engine.isAway())
    }
    isOver = true
    await asking
    expect(found).to.not.include('wrong')
    expect([...histories]).to.have.length(5)
  })

  it('connects again when the engine is away for long', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    const changes = changesOf(engine)
    await redis.kill()
    await until('it has tried again', () => engine.awayReason().includes('connection refused'))
    await redis.restart()
    await until('the engine is back', () => !engine.isAway())
    expect(changes.map(([isAway]) => isAway)).to.deep.equal([true, false])
    expect(changes[0]?.[1]).to.equal('connection lost')
  })

  describe('is away while the engine answers', () => {
    const cases: Readonly<
      Record<string, readonly [on: readonly string[], off: readonly string[]]>
    > = {
      OOM: [
        ['CONFIG', 'SET', 'maxmemory', '1'],
        ['CONFIG', 'SET', 'maxmemory', '0'],
      ],
      NOREPLICAS: [
        ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
        ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
      ],
      READONLY: [
        ['REPLICAOF', '127.0.0.1', '1'],
        ['REPLICAOF', 'NO', 'ONE'],
      ],
      NOPERM: [
        ['ACL', 'SETUSER', 'default', '-evalsha'],
        ['ACL', 'SETUSER', 'default', '+evalsha'],
      ],
    }
    for (const [answer, [on, off]] of Object.entries(cases)) {
      it(answer, async () => {
        const redis = await engines.redis()
        const engine = await engines.open({ url: redis.url })
        const changes = changesOf(engine)
        await redis.run(...on)
        const error = await rejection(run(engine))
        expect(error).to.be.instanceOf(EngineAwayError)
        expect(error.message).to.include(answer)
        expect(changes[0]?.[1]).to.include(answer)
        await redis.run(...off)
        await until('the engine is back', () => !engine.isAway())
        expect(await run(engine)).to.be.above(0)
      })
    }

    it('BUSY', async () => {
      const redis = await engines.redis({ args: ['--busy-reply-threshold', '10'] })
      const engine = await engines.open({ url: redis.url })
      const endless = rejection(redis.run('EVAL', 'while true do end', '0'))
      await until('it notices', () => engine.isAway())
      await until('it reports why', () => engine.awayReason().includes('BUSY'))
      await until('the script is killed', async () => (await redis.run('SCRIPT', 'KILL')) === 'OK')
      await endless
      await until('the engine is back', () => !engine.isAway())
    })
  })

  it('has another history after the engine was a replica meanwhile', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    const before = engine.history()
    await redis.run('REPLICAOF', '127.0.0.1', '1')
    await redis.run('REPLICAOF', 'NO', 'ONE')
    await until('it notices', () => engine.history() !== before)
    await until('the engine is back', () => !engine.isAway())
  })

  it('is away when another version takes the keys', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    await redis.run('SET', 'holdfast:format', 'holdfast 2')
    await until('it notices', () => engine.awayReason().includes('another version'))
    await redis.run('DEL', 'holdfast:format')
    await until('the engine is back', () => !engine.isAway())
  })

  it('reports nothing of its own closing, and runs nothing afterwards', async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    const engine = await engines.open({ url: urlOf(proxy) })
    const changes = changesOf(engine)
    await engine.close()
    expect(changes).to.deep.equal([])
    expect(await rejection(run(engine))).to.be.instanceOf(EngineAwayError)
    await until('all connections have ended', () => proxy.connections() === 0)
    await engine.close()
  })

  it('closes while the engine is away', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    redis.suspend()
    await until('it notices', () => engine.isAway())
    await engine.close()
  })
})
