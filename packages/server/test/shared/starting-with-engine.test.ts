import { createSite, findFreePort, runHoldfast, startHoldfast, type Site } from '@holdfast/testing'
import {
  startFaultyProxy,
  startRedis,
  type RedisOptions,
  type RunningRedis,
} from '@holdfast/testing/redis'
import { expect } from 'chai'

type Environment = Readonly<Record<string, string>>

const away = 'shared counts away; this server counts for itself'

describe('holdfast serve with an engine', () => {
  const ends: (() => Promise<unknown>)[] = []
  let site: Site
  beforeEach(async () => {
    site = await createSite()
    ends.push(() => site.remove())
  })
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  const redisWith = async (options: RedisOptions = {}) => {
    const redis = await startRedis(options)
    ends.push(() => redis.stop())
    return redis
  }
  /** What the server prints that does not start: one line, without the parts that differ from run to run. */
  const refusal = async (url: string, env: Environment = {}, args: readonly string[] = []) => {
    const all = ['serve', '--port', '0', '--shared-url', url, ...args]
    const { code, stdout, stderr } = await runHoldfast(all, { cwd: site.path, env })
    expect(code).to.equal(1)
    expect(stdout).not.to.match(/shared|listens/)
    return stderr.replaceAll(/127\.0\.0\.1:\d+/g, 'ENGINE').trimEnd()
  }
  const bothWays = async (url: string, env: Environment, expected: string) => {
    for (const args of [[], ['--workers', '2']]) {
      expect(await refusal(url, env, args)).to.equal(`holdfast: ${expected}`)
    }
  }

  it('refuses a wrong password and a missing one, and shows none', async () => {
    const { url } = await redisWith({ password: 'r1ght' })
    const remedy =
      'Set the password in HOLDFAST_SHARED_PASSWORD, or in a file that HOLDFAST_SHARED_PASSWORD_FILE names'
    await bothWays(
      url,
      { HOLDFAST_SHARED_PASSWORD: 'wr0ng' },
      `The engine ENGINE refuses the user or the password. ${remedy}`,
    )
    expect(await refusal(url)).to.equal(
      `holdfast: The engine ENGINE asks for a password. ${remedy}`,
    )
  })

  it('refuses a policy that drops keys', async () => {
    const args = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']
    await bothWays(
      (await redisWith({ args })).url,
      {},
      'The engine ENGINE drops keys when its memory is full (maxmemory-policy allkeys-lru): counts would be wrong. Set in its configuration: maxmemory-policy noeviction',
    )
  })

  it('refuses a version before 7', async () => {
    // Of the same length as before.
    const rewrite = (chunk: Buffer) =>
      Buffer.from(
        chunk.toString('latin1').replace(/(redis_version:)\d/, (_, name: string) => `${name}6`),
        'latin1',
      )
    const proxy = await startFaultyProxy(await redisWith(), { rewrite })
    ends.push(() => proxy.close())
    expect(await refusal(`redis://127.0.0.1:${proxy.port}`)).to.match(
      /^holdfast: The engine ENGINE is Redis 6\.\d+\.\d+, which is too old\. Install Valkey, or Redis 7 or later$/,
    )
  })

  it('refuses keys of another format, and does not count as one of those servers', async () => {
    const redis = await redisWith()
    await redis.run('SET', 'holdfast:format', 'holdfast 99')
    await bothWays(
      redis.url,
      {},
      'The keys "holdfast:…" in the engine are those of another version of holdfast: holdfast:format is "holdfast 99", not "holdfast 1". Choose another prefix by --shared-prefix, or another database in the URL',
    )
    expect(await redis.run('DBSIZE')).to.equal('1')
  })

  it('refuses TLS where the engine does not speak it', async () => {
    const { url } = await redisWith()
    expect(await refusal(url.replace('redis:', 'rediss:'))).to.equal(
      'holdfast: The engine ENGINE does not speak TLS, but the URL says so. Write redis:// instead of rediss://',
    )
  })

  it('refuses a URL with a typing error, and one with a password, which it does not repeat', async () => {
    expect(await refusal('redi://valkey')).to.match(
      /^holdfast: --shared-url "redi:\/\/valkey" is not the address of Valkey or Redis; write redis:\/\/, /,
    )
    expect(await refusal('redis://:s3cret@valkey'))
      .to.match(/^holdfast: --shared-url .* has a password, .*; set HOLDFAST_SHARED_PASSWORD, or /)
      .and.not.to.include('s3cret')
  })

  for (const workers of ['1', '2']) {
    it(`starts without the engine, and warns once, with workers: ${workers}`, async () => {
      const port = await findFreePort()
      const args = ['--workers', workers, '--shared-url', `redis://127.0.0.1:${port}`]
      const server = await startHoldfast(args, { cwd: site.path })
      ends.push(() => server.kill())
      const warnings = server.lines().filter(({ msg }) => String(msg).includes('shared'))
      expect(warnings.map(({ msg, reason }) => ({ msg, reason }))).to.deep.equal([
        { msg: away, reason: `connection refused (127.0.0.1:${port})` },
      ])
    })
  }

  it('starts with a host that does not exist, and warns', async () => {
    const args = ['--shared-url', 'redis://valkey.invalid']
    const server = await startHoldfast(args, { cwd: site.path })
    ends.push(() => server.kill())
    const { reason } = await server.logged(away)
    // What the resolver answers depends on the network.
    expect(reason).to.match(/host.* \(valkey\.invalid:6379\)$/)
  })

  it('counts with the engine from the first request on, and as one server with two workers', async () => {
    const redis: RunningRedis = await redisWith()
    const server = await startHoldfast(['--workers', '2', '--shared-url', redis.url], {
      cwd: site.path,
    })
    ends.push(() => server.kill())
    expect(await server.logged('shared counts in use')).to.include({ servers: 1 })
    expect(
      server.lines().filter(({ msg }) => String(msg).includes('shared counts')),
    ).to.have.length(1)
  })
})
