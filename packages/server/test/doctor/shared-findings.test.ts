import { SetupError } from '@holdfast/core'
import { createSite, findFreePort, makeCertificate, rejection } from '@holdfast/testing'
import { startRedis, type RedisOptions } from '@holdfast/testing/redis'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { examine, sharedFindings } from '../../src/doctor/examine.ts'
type Environment = Readonly<Record<string, string>>

const linesOf = async (environment: Environment) => {
  const lines: string[] = []
  for await (const each of sharedFindings(resolveConfig({ environment }))) {
    const { check, mark, message, remedies } = each
    lines.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

/** What the section for several servers says; `undefined` where there is none. */
const sectionOf = async (environment: Environment) => {
  const site = await createSite()
  const config = resolveConfig({
    environment: { HOLDFAST_DATA: `${site.path}/data`, ...environment },
  })
  let lines: string[] | undefined
  try {
    for await (const { title, findings } of examine(config)) {
      const found: string[] = []
      for await (const { check, mark, message, remedies } of findings) {
        if (mark !== 'ok') found.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
      }
      if (title === 'Several servers') lines = found
    }
    return lines
  } finally {
    await site.remove()
  }
}

describe('sharedFindings', () => {
  it('finds nothing where each server counts for itself', async () => {
    expect(await linesOf({})).to.deep.equal([])
  })

  it('examines the engine, says each thing once, and changes no key', async () => {
    const redis = await startRedis()
    try {
      const lines = await linesOf({ HOLDFAST_SHARED_URL: redis.url, HOLDFAST_SHARED_PREFIX: 'eu' })
      expect(lines.map((line) => line.split(': ').slice(0, 2).join(': '))).to.deep.equal([
        'ok: encryption',
        'ok: engine password',
        'ok: engine',
        'ok: engine memory',
        'ok: persistence',
        'ok: replicas',
        'ok: keys eu:…',
        'ok: latency',
      ])
      expect(await redis.run('DBSIZE')).to.equal('0')
    } finally {
      await redis.stop()
    }
  })

  it('rejects for settings with which no server starts', async () => {
    const given = { HOLDFAST_SHARED_URL: 'redis://valkey', HOLDFAST_SHARED_USER: 'holdfast' }
    expect(await rejection(linesOf(given))).to.be.instanceOf(SetupError)
  })
})

describe('examine', () => {
  const sectionFor = async (options: RedisOptions, environment: Environment = {}) => {
    const redis = await startRedis(options)
    try {
      const lines = await sectionOf({ HOLDFAST_SHARED_URL: redis.url, ...environment })
      return lines?.map((line) => line.replaceAll(String(redis.port), 'PORT'))
    } finally {
      await redis.stop()
    }
  }

  it('has a section for several servers only where they count together', async () => {
    expect(await sectionOf({})).to.equal(undefined)
    expect(await sectionFor({})).to.deep.equal([])
  })

  it('has a problem with an engine that drops keys', async () => {
    const args = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']
    expect(await sectionFor({ args })).to.deep.equal([
      'problem: engine: The engine 127.0.0.1:PORT drops keys when its memory is full (maxmemory-policy allkeys-lru): counts would be wrong | Set in its configuration: maxmemory-policy noeviction',
    ])
  })

  it('has a problem with an engine that refuses the password, and shows none', async () => {
    const environment = { HOLDFAST_SHARED_PASSWORD: 'wr0ng' }
    const lines = await sectionFor({ password: 'r1ght' }, environment)
    expect(lines).to.have.length(1)
    expect(lines?.join())
      .to.match(
        /^problem: engine: The engine .* refuses the user or the password \| .*_PASSWORD_FILE/,
      )
      .and.not.to.match(/wr0ng|r1ght/)
  })

  it('has a problem with an engine that is not there', async () => {
    const port = await findFreePort()
    expect(await sectionOf({ HOLDFAST_SHARED_URL: `redis://127.0.0.1:${port}` })).to.deep.equal([
      `problem: engine: cannot be reached: connection refused (127.0.0.1:${port}); until it can, each server counts for itself | Start it, or correct --shared-url`,
    ])
  })

  it('has a problem with settings that contradict each other', async () => {
    const site = await createSite()
    try {
      const ca = await site.write('ca.pem', (await makeCertificate()).certificate)
      const given = { HOLDFAST_SHARED_URL: 'redis://127.0.0.1', HOLDFAST_SHARED_CA: ca }
      expect(await sectionOf(given)).to.deep.equal([
        'problem: engine: The connection to Valkey or Redis is not encrypted, so that --shared-ca has no effect | write rediss instead of redis in --shared-url, or leave --shared-ca out.',
      ])
    } finally {
      await site.remove()
    }
  })
})
