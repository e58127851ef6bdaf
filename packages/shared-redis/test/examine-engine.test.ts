import { expect } from 'chai'
import { SetupError, type Finding } from '@holdfast/core'
import { findFreePort, rejection, until } from '@holdfast/testing'
import { startRedisCluster } from '@holdfast/testing/redis'
import { examineEngine, type EngineOptions } from '../src/index.ts'
import { urlOf, useEngines } from './support/use-engines.ts'

describe('examineEngine', () => {
  const engines = useEngines()

  const examine = async (options: EngineOptions) => {
    const found: Finding[] = []
    for await (const one of examineEngine(options)) found.push(one)
    return found
  }
  const find = (found: readonly Finding[], check: string) =>
    found.find((one) => one.check === check)

  it('finds a good engine good, and changes nothing', async () => {
    const redis = await engines.redis()
    const found = await examine({ url: redis.url })
    expect(found.filter(({ mark }) => mark !== 'ok')).to.deep.equal([])
    expect(found.map(({ check }) => check)).to.deep.equal([
      'encryption',
      'engine password',
      'engine',
      'engine memory',
      'persistence',
      'replicas',
      'keys holdfast:…',
      'latency',
    ])
    expect(find(found, 'engine')?.message).to.match(
      /^(Redis|Valkey) \d+\.\d+\.\d+ at 127\.0\.0\.1:/,
    )
    expect(find(found, 'latency')?.message).to.match(/^median [\d.]+ ms, worst [\d.]+ ms of 20 /)
    expect(await redis.run('DBSIZE')).to.equal('0')
  })

  it('runs beside servers, who do not mind', async () => {
    const redis = await engines.redis()
    const engine = await engines.open({ url: redis.url })
    const found = await examine({ url: redis.url })
    expect(find(found, 'keys holdfast:…')?.message).to.include('used by servers')
    await examine({ url: redis.url })
    expect(engine.ignoredMessages()).to.equal(0)
    expect(engine.servers.count()).to.equal(1)
  })

  it('describes persistence', async () => {
    const redis = await engines.redis()
    const persistence = async () => find(await examine({ url: redis.url }), 'persistence')
    expect((await persistence())?.message).to.include('none; after a restart')
    await redis.run('CONFIG', 'SET', 'save', '900 1')
    expect((await persistence())?.message).to.include('snapshots (save 900 1)')
    await redis.run('CONFIG', 'SET', 'appendonly', 'yes')
    expect((await persistence())?.message).to.equal('append-only file')
  })

  it('says so where the settings of the engine cannot be read', async () => {
    const { url } = await engines.redis({
      acl: ['user bob on >secret ~* &* +@all -@admin -@dangerous +info'],
    })
    const found = await examine({ url, username: 'bob', password: 'secret' })
    expect(find(found, 'persistence')?.mark).to.equal('skipped')
  })

  it('warns of a policy that would drop keys', async () => {
    const { url } = await engines.redis({ args: ['--maxmemory-policy', 'volatile-lru'] })
    const found = find(await examine({ url }), 'engine memory')
    expect(found).to.include({ mark: 'warning' })
    expect(found?.remedies.join()).to.include('noeviction')
  })

  it('finds an engine full that refuses changes', async () => {
    const { url } = await engines.redis({ args: ['--maxmemory', '100kb'] })
    const found = find(await examine({ url }), 'engine memory')
    expect(found).to.include({ mark: 'problem' })
    expect(found?.message).to.include('it is full')
    expect(found?.remedies.join()).to.include('maxmemory')
  })

  it('warns of a master that does not wait for its replicas', async () => {
    const redis = await engines.redis()
    await engines.redis({ args: ['--replicaof', `127.0.0.1 ${redis.port}`] })
    await until('the replica is connected', async () =>
      (await redis.run('INFO', 'replication')).includes('connected_slaves:1'),
    )
    const replicas = async () => find(await examine({ url: redis.url }), 'replicas')
    expect(await replicas()).to.include({ mark: 'warning' })
    await redis.run('CONFIG', 'SET', 'min-replicas-to-write', '1')
    await until('the replica is in sync', async () =>
      (await redis.run('INFO', 'replication')).includes('min_slaves_good_slaves:1'),
    )
    expect(await replicas()).to.include({ mark: 'ok' })
  })

  it('warns of answers that take long', async () => {
    const redis = await engines.redis()
    const proxy = await engines.proxy(redis)
    proxy.delay(15)
    const found = find(await examine({ url: urlOf(proxy) }), 'latency')
    expect(found).to.include({ mark: 'warning' })
  })

  it('describes all nodes of a Cluster', async () => {
    const cluster = await startRedisCluster()
    engines.onEnd(() => cluster.stop())
    const found = await examine({ url: cluster.url })
    for (const { port } of cluster.servers) {
      expect(find(found, 'engine')?.message).to.include(`127.0.0.1:${port}`)
    }
    expect(found.filter(({ check }) => check === 'engine memory')).to.have.length(3)
  })

  it('has a problem with an engine that cannot be reached', async () => {
    const found = await examine({ url: urlOf({ port: await findFreePort() }) })
    expect(found.at(-1)).to.include({ check: 'engine', mark: 'problem' })
    expect(found.at(-1)?.message).to.include('connection refused')
  })

  it('rejects for an engine that is refused, and for keys of others', async () => {
    const redis = await engines.redis({ password: 'right' })
    const options = { url: redis.url, password: 'right' }
    expect(await rejection(examine({ url: redis.url }))).to.be.instanceOf(SetupError)
    await redis.run('SET', 'holdfast:format', 'mine')
    expect((await rejection(examine(options))).message).to.include('another program')
  })

  it('warns of an engine on another machine without TLS and password', async () => {
    // An address for documentation, where no machine is.
    const found = await examine({ url: 'redis://192.0.2.1' })
    expect(find(found, 'encryption')).to.include({ mark: 'warning' })
    expect(find(found, 'engine password')).to.include({ mark: 'warning' })
  })
})
