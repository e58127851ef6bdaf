import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { findFreePort, makeCertificate, rejection, until } from '@holdfast/testing'
import { startRedisCluster, startSentinels } from '@holdfast/testing/redis'
import type { EngineOptions } from '../src/index.ts'
import { urlOf, useEngines } from './support/use-engines.ts'

describe('openEngine', () => {
  const engines = useEngines()

  const refusal = async (options: EngineOptions) => {
    const error = await rejection(engines.open(options))
    expect(error).to.be.instanceOf(SetupError)
    return error.message
  }
  /** The port of a server that ends after the test. */
  const listen = async (server: Server) => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    engines.onEnd(() => server.close())
    return (server.address() as AddressInfo).port
  }

  it('logs in with a password', async () => {
    const { url } = await engines.redis({ password: 'right' })
    const engine = await engines.open({ url, password: 'right' })
    expect(engine.isAway()).to.equal(false)
    expect(await refusal({ url })).to.match(/asks for a password.*HOLDFAST_SHARED_PASSWORD_FILE/)
    expect(await refusal({ url, password: 'wrong' })).to.match(/refuses the user or the password/)
  })

  it('logs in as a user who may use the keys of holdfast only, and needs no more', async () => {
    const rules = '~holdfast:* &holdfast:* +@all -@admin -@dangerous +info'
    const { url } = await engines.redis({ acl: [`user bob on >secret ${rules}`] })
    const engine = await engines.open({ url: url.replace('//', '//bob@'), password: 'secret' })
    expect(engine.isAway()).to.equal(false)
    expect(await refusal({ url, username: 'eve', password: 'secret' })).to.include('refuses')
    expect(await refusal({ url, username: 'bob' })).to.include('bob has no password')
  })

  for (const [what, rules] of [
    ['EVAL', '~* &* +@all -eval -evalsha'],
    ['PUBLISH', '~* &* +@all -publish'],
    ['SUBSCRIBE', '~* &* +@all -subscribe'],
    ['the channel', '~* +@all resetchannels'],
    ['INFO', '~* &* +@all -info'],
    ['the keys', '~other:* &* +@all'],
  ] as const) {
    it(`refuses a user who may not use ${what}`, async () => {
      const { url } = await engines.redis({ acl: [`user bob on >secret ${rules}`] })
      const message = await refusal({ url, username: 'bob', password: 'secret' })
      expect(message).to.include('does not let the user').and.include('ACL SETUSER')
    })
  }

  it('speaks TLS with the authority that it is given', async () => {
    const { url, ca } = await engines.redis({ tls: true })
    const engine = await engines.open({ url, ca })
    expect(engine.isAway()).to.equal(false)
    expect(await refusal({ url })).to.include('an authority that is not trusted')
    const { certificate } = await makeCertificate()
    expect(await refusal({ url, ca: certificate })).to.include('not trusted')
  })

  it('refuses an engine that speaks TLS where the URL says otherwise, and the other way round', async () => {
    const secure = await engines.redis({ tls: true })
    expect(await refusal({ url: urlOf(secure) })).to.include('rediss://')
    const plain = await engines.redis()
    const message = await refusal({ url: plain.url.replace('redis:', 'rediss:') })
    expect(message).to.include('does not speak TLS')
  })

  it('refuses an engine that demands a certificate of the client, and takes one', async () => {
    const { url, ca, privateKey } = await engines.redis({
      tls: true,
      args: ['--tls-auth-clients', 'yes'],
    })
    const engine = await engines.open({ url, ca, certificate: ca, privateKey })
    expect(engine.isAway()).to.equal(false)
    expect(await refusal({ url, ca })).to.include('asks for a certificate')
    const other = await makeCertificate()
    const own = { certificate: other.certificate, privateKey: other.privateKey }
    expect(await refusal({ url, ca, ...own })).to.include('tls-auth-clients no')
  })

  it('refuses a server that is no Redis', async () => {
    const port = await listen(createHttpServer((_, response) => response.end('Hello')))
    expect(await refusal({ url: urlOf({ port }) })).to.include('neither Valkey nor Redis')
    const message = await refusal({ url: `rediss://127.0.0.1:${port}` })
    expect(message).to.include('does not speak TLS')
  })

  it('refuses an engine of a version before 7', async () => {
    const redis = await engines.redis()
    // Of the same length, since the answer begins with it.
    const rewrite = (chunk: Buffer) =>
      Buffer.from(
        chunk.toString('latin1').replace(/(redis_version:)\d/, (_, name: string) => `${name}6`),
        'latin1',
      )
    const proxy = await engines.proxy(redis, { rewrite })
    expect(await refusal({ url: urlOf(proxy) })).to.match(/is Redis 6.*too old.*Valkey/)
  })

  it('refuses a replica, and names its master', async () => {
    const master = await engines.redis()
    const replica = await engines.redis({ args: ['--replicaof', `127.0.0.1 ${master.port}`] })
    const message = await refusal({ url: replica.url })
    expect(message).to.include('is a replica').and.include(`127.0.0.1:${master.port}`)
  })

  it('refuses an engine that drops keys when its memory is full', async () => {
    for (const policy of ['allkeys-lru', 'volatile-ttl']) {
      const args = ['--maxmemory', '100mb', '--maxmemory-policy', policy]
      const { url } = await engines.redis({ args })
      expect(await refusal({ url }))
        .to.include(policy)
        .and.include('noeviction')
    }
    const { url } = await engines.redis({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    expect((await engines.open({ url })).isAway()).to.equal(false)
  })

  it('refuses keys of another program, or of another version, and takes another prefix', async () => {
    const redis = await engines.redis()
    await redis.run('SET', 'holdfast:format', 'holdfast 2')
    expect(await refusal({ url: redis.url })).to.include('another version of holdfast')
    expect(await redis.run('EXISTS', 'holdfast:servers')).to.equal('0')
    await redis.run('SET', 'holdfast:format', 'mine')
    expect(await refusal({ url: redis.url }))
      .to.include('another program')
      .and.include('"mine"')
    await redis.run('DEL', 'holdfast:format')
    await redis.run('SADD', 'holdfast:format', 'x')
    expect(await refusal({ url: redis.url })).to.include('another program')
    expect((await engines.open({ url: redis.url, prefix: 'files' })).isAway()).to.equal(false)
    expect(await redis.run('GET', 'files:format')).to.equal('holdfast 1')
    expect(Number(await redis.run('TTL', 'files:format'))).to.be.above(86_400)
  })

  it('refuses a database that the engine does not have, and uses one that it has', async () => {
    const redis = await engines.redis()
    expect(await refusal({ url: `${redis.url}/99` })).to.include('does not have the database')
    await engines.open({ url: `${redis.url}/3` })
    expect(await redis.run('-n', '3', 'EXISTS', 'holdfast:format')).to.equal('1')
    expect(await redis.run('-n', '0', 'DBSIZE')).to.equal('0')
  })

  it('refuses a URL for another kind of engine', async () => {
    const single = await engines.redis()
    const cluster = await startRedisCluster()
    engines.onEnd(() => cluster.stop())
    const sentinels = await startSentinels()
    engines.onEnd(() => sentinels.stop())
    const host = `127.0.0.1:${single.port}`
    expect(await refusal({ url: `redis+cluster://${host}` })).to.include('not a node of a Cluster')
    expect(await refusal({ url: `redis+sentinel://${host}/main` })).to.include('is no Sentinel')
    const { port } = cluster.servers[0] ?? { port: 0 }
    expect(await refusal({ url: urlOf({ port }) })).to.include('redis+cluster://')
    const sentinel = urlOf({ port: sentinels.ports[0] ?? 0 })
    expect(await refusal({ url: sentinel })).to.include('redis+sentinel://')
    const other = sentinels.url.replace(/main$/, 'other')
    expect(await refusal({ url: other })).to.include('watches no master called other')
  })

  it('refuses options that contradict each other', async () => {
    const url = 'redis://bob@127.0.0.1:1'
    expect(await refusal({ url, username: 'eve', password: 'x' })).to.include('different users')
    expect(await refusal({ url: 'redis://127.0.0.1:1', ca: 'PEM' })).to.include('rediss://')
    expect(await refusal({ url: 'redis://127.0.0.1:1', prefix: 'a{b}' })).to.include('prefix')
    expect(await rejection(engines.open({ url, password: 'x', leaseMs: 2_999 }))).to.be.instanceOf(
      RangeError,
    )
  })

  it('opens while the engine is down, and connects when it is there', async () => {
    const redis = await engines.redis()
    await redis.kill()
    const engine = await engines.open({ url: redis.url })
    expect(engine.isAway()).to.equal(true)
    expect(engine.awayReason()).to.include('connection refused').and.include(String(redis.port))
    await redis.restart()
    await until('the engine is there', () => !engine.isAway())
    expect(engine.awayReason()).to.equal('')
    expect(engine.history()).to.not.equal('')
  })

  it('opens while the host is unknown', async () => {
    const engine = await engines.open({ url: 'redis://no-host.invalid' })
    expect(engine.isAway()).to.equal(true)
    expect(engine.awayReason()).to.include('no-host.invalid')
  })

  it('opens while the engine takes connections and says nothing', async () => {
    const port = await listen(createServer(() => {}))
    for (const scheme of ['redis', 'rediss']) {
      const began = performance.now()
      const engine = await engines.open({ url: `${scheme}://127.0.0.1:${port}` })
      expect(engine.isAway()).to.equal(true)
      expect(engine.awayReason()).to.not.equal('')
      expect(performance.now() - began).to.be.below(10_000)
    }
  })

  it('opens while no Sentinel and no node of a Cluster can be reached', async () => {
    const hosts = `127.0.0.1:${await findFreePort()},127.0.0.1:${await findFreePort()}`
    for (const url of [`redis+sentinel://${hosts}/main`, `redis+cluster://${hosts}`]) {
      const engine = await engines.open({ url })
      expect(engine.isAway()).to.equal(true)
      expect(engine.awayReason()).to.include('connection refused')
    }
  })

  it('ends all connections when it is refused', async () => {
    const redis = await engines.redis({
      args: ['--maxmemory', '1gb', '--maxmemory-policy', 'allkeys-lru'],
    })
    const proxy = await engines.proxy(redis)
    await refusal({ url: urlOf(proxy) })
    await until('the connections have ended', () => proxy.connections() === 0)
    expect(proxy.accepted()).to.equal(1)
  })
})
