import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { until } from '@holdfast/testing'
import { createServerWatch, forgetScript } from '../src/engine/servers.ts'
import { urlOf, useEngines } from './support/use-engines.ts'

describe('createServerWatch', () => {
  const watched = () => {
    let time = 0
    const watch = createServerWatch('own', { leaseMs: 9_000, now: () => time })
    /** Time passes; then a heartbeat is sent, and answered `tookMs` later. */
    const beat = (passedMs: number, answer: Readonly<Record<string, string>>, tookMs = 0) => {
      time += passedMs
      const sentAt = time
      time += tookMs
      watch.observe(Object.entries(answer).flat(), sentAt)
    }
    return {
      servers: watch.servers,
      beat,
      restart: () => watch.restart(),
      forgotten: () => watch.forgotten(),
      pass: (ms: number) => void (time += ms),
    }
  }

  it('takes a server for dead when its number has stood still for a lease', () => {
    const { servers, beat } = watched()
    beat(0, { a: '1', b: '1' })
    for (let nth = 2; nth <= 10; nth++) beat(1_000, { a: '1', b: `${nth}` })
    expect(servers.isDead('a')).to.equal(false)
    beat(1_000, { a: '1', b: '10' })
    expect(servers.isDead('a')).to.equal(true)
    expect(servers.isDead('b')).to.equal(false)
    beat(1_000, { a: '2', b: '11' })
    expect(servers.isDead('a')).to.equal(false)
  })

  it('watches a server that it has never seen from the first question on', () => {
    const { servers, beat } = watched()
    beat(0, {})
    expect(servers.isDead('a')).to.equal(false)
    for (let nth = 0; nth < 9; nth++) beat(1_000, {})
    expect(servers.isDead('a')).to.equal(false)
    beat(1_000, {})
    expect(servers.isDead('a')).to.equal(true)
  })

  it('never takes itself for dead', () => {
    const { servers, beat } = watched()
    for (let nth = 0; nth < 20; nth++) beat(1_000, { own: '1' })
    expect(servers.isDead('own')).to.equal(false)
  })

  it('begins to watch anew after a gap of a third of a lease in its own heartbeats', () => {
    const { servers, beat, pass } = watched()
    beat(0, { a: '1' })
    for (let nth = 0; nth < 8; nth++) beat(1_000, { a: '1' })
    pass(60_000)
    expect(servers.isDead('a')).to.equal(false)
    beat(0, { a: '1' })
    for (let nth = 0; nth < 9; nth++) beat(1_000, { a: '1' })
    expect(servers.isDead('a')).to.equal(false)
    beat(1_000, { a: '1' })
    expect(servers.isDead('a')).to.equal(true)
  })

  it('takes no server for dead while it cannot watch', () => {
    const { servers, beat, pass } = watched()
    for (let nth = 0; nth < 12; nth++) beat(1_000, { a: '1' })
    expect(servers.isDead('a')).to.equal(true)
    pass(3_001)
    expect(servers.isDead('a')).to.equal(false)
  })

  it('does not count the time that an answer was under way', () => {
    const { servers, beat } = watched()
    beat(0, { a: '1' })
    for (let nth = 0; nth < 4; nth++) beat(0, { a: '1' }, 2_900)
    expect(servers.isDead('a')).to.equal(false)
  })

  it('begins to watch anew when the engine may have lost signs of life', () => {
    const { servers, beat, restart } = watched()
    beat(0, { a: '1' })
    for (let nth = 0; nth < 8; nth++) beat(1_000, { a: '1' })
    restart()
    for (let nth = 0; nth < 9; nth++) beat(1_000, {})
    expect(servers.isDead('a')).to.equal(false)
    beat(1_000, {})
    expect(servers.isDead('a')).to.equal(true)
  })

  it('has a lease from when an answered heartbeat was sent, less two seconds', () => {
    const { servers, beat, pass } = watched()
    expect(servers.hasLease()).to.equal(false)
    beat(0, { own: '1' }, 2_000)
    pass(4_999)
    expect(servers.hasLease()).to.equal(true)
    pass(1)
    expect(servers.hasLease()).to.equal(false)
    beat(0, { own: '2' })
    expect(servers.hasLease()).to.equal(true)
  })

  it('counts the servers of the last minute, and as many as before while it cannot watch', () => {
    const { servers, beat, pass } = watched()
    expect(servers.count()).to.equal(1)
    beat(0, { own: '1', a: '1', b: '1', c: 'left' })
    expect(servers.count()).to.equal(3)
    pass(600_000)
    expect(servers.count()).to.equal(3)
    beat(0, { own: '2', a: '1', b: '2' })
    expect(servers.count()).to.equal(2)
    servers.isDead('a server that no one has seen')
    expect(servers.count()).to.equal(2)
  })

  it('no longer counts a server that says that it leaves', () => {
    const { servers, beat } = watched()
    beat(0, { own: '1', a: '1' })
    beat(1_000, { own: '2', a: 'left' })
    expect(servers.count()).to.equal(1)
  })

  it('names the servers to forget after an hour', () => {
    const { forgotten, beat } = watched()
    for (let nth = 0; nth <= 3_600; nth++) beat(1_000, { own: '1', a: '7', b: `${nth}` })
    expect(forgotten()).to.deep.equal([])
    beat(1_000, { own: '1', a: '7', b: 'x' })
    expect(forgotten()).to.deep.equal(['a', '7'])
  })
})

describe('Servers', () => {
  const engines = useEngines()

  it('knows no dead after the engine itself stood still for longer than a lease', async () => {
    const redis = await engines.redis()
    const [first, second] = [
      await engines.open({ url: redis.url }),
      await engines.open({ url: redis.url }),
    ]
    await until('they see each other', () => first.servers.count() === 2)
    redis.suspend()
    await until('the lease has ended', () => !first.servers.hasLease())
    await delay(3_500)
    redis.resume()
    const found: boolean[] = []
    await until('the engine is back', () => {
      found.push(first.servers.isDead(second.servers.own))
      return !first.isAway()
    })
    found.push(first.servers.isDead(second.servers.own))
    expect(found).to.not.include(true)
  })

  it('knows the dead', async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    const first = await engines.open({ url: redis.url })
    const second = await engines.open({ url: urlOf(proxy) })
    await until('they see each other', () => first.servers.count() === 2)
    proxy.partition()
    await until('the second has no lease', () => !second.servers.hasLease())
    expect(first.servers.isDead(second.servers.own)).to.equal(false)
    await until('the first takes it for dead', () => first.servers.isDead(second.servers.own))
    expect(second.servers.isDead(first.servers.own)).to.equal(false)
    proxy.release()
    await until('it lives again', () => !first.servers.isDead(second.servers.own))
  })

  it('does not count a server that was closed', async () => {
    const redis = await engines.redis()
    const [first, second] = [
      await engines.open({ url: redis.url }),
      await engines.open({ url: redis.url }),
    ]
    await until('they see each other', () => first.servers.count() === 2)
    await second.close()
    await until('the first is alone', () => first.servers.count() === 1)
  })

  it('removes the dead from the engine, unless they have come back', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    await redis.run('HSET', engine.key('servers'), 'old', '7', 'back', '1')
    await engine.run(forgetScript, [engine.key('servers')], ['old', '7', 'back', '0'])
    const kept = (await redis.run('HKEYS', engine.key('servers'))).split('\n')
    expect(kept.toSorted()).to.deep.equal(['back', engine.servers.own].toSorted())
  })

  it('has no lease as the first thing after its process was suspended', async () => {
    const redis = await engines.redis()
    const program = join(import.meta.dirname, 'children/print-lease.ts')
    const child = spawn(process.execPath, [program, redis.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    engines.onEnd(() => child.kill('SIGKILL'))
    const lines: string[] = []
    createInterface(child.stdout).on('line', (line) => void lines.push(line))
    await until('it has a lease', () => lines.includes('true'))
    child.kill('SIGSTOP')
    // What it printed before arrives.
    await delay(2_000)
    const before = lines.length
    child.kill('SIGCONT')
    await until('it goes on', () => lines.length > before)
    expect(lines[before]).to.equal('false')
    await until('it has a lease again', () => lines.slice(before).includes('true'))
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
})
