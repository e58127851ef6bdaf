import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { describeWithMinio, minioKeys } from '@holdfast/testing/minio'
import { createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { SetupError, type Credential } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { resolveConfig, type ConfigSources } from '../../src/config/resolve-config.ts'
import {
  openStore,
  locationOf,
  checkKeeping,
  type KeepingSettings,
} from '../../src/stores/open-store.ts'

const log = pino({ level: 'silent' })

describe('openStore', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const refusal = async (sources: ConfigSources) => {
    try {
      await openStore('minio', resolveConfig(sources), log)
    } catch (error) {
      if (error instanceof SetupError) return error.message
      throw error
    }
    throw new Error('It opened')
  }

  it('opens the kind that it is asked for, whichever the configuration names', async () => {
    const data = join(site.path, 'data')
    const config = resolveConfig({ flags: { store: 'minio', data } })
    const store = await openStore('disk', config, log)
    expect(await store.usage('nobody')).to.deep.equal({ blobs: 0, bytes: 0 })
    await store.close()
  })

  it('opens in every worker of the most that --workers allows', async () => {
    const config = resolveConfig({ flags: { data: join(site.path, 'data') } })
    for (const writer of [0, 9, 10, 98]) {
      await (await openStore('disk', config, log, { writer })).close()
    }
  })

  for (const [size, isKept] of [
    ['32MiB', true],
    ['0', false],
  ] as const) {
    it(`keeps ${isKept ? '' : 'no '}small files in memory with --cache-size ${size}`, async () => {
      const flags = { data: join(site.path, 'data'), 'cache-size': size }
      const store = await openStore('disk', resolveConfig({ flags }), log)
      const key = { customer: 'alice', name: 'small' }
      await store.put(key, Readable.from([Buffer.from('content')]))
      // Files that have just changed are not kept.
      await delay(2_100)
      const open = async () => (await store.open(key))?.bytes
      await open()
      const before = await open()
      expect(before).to.deep.equal(Buffer.from('content'))
      expect((await open()) === before, 'the same buffer').to.equal(isKept)
      await store.close()
    })
  }

  it('names everything at once that the MinIO store lacks', async () => {
    expect(await refusal({})).to.equal(
      [
        'The MinIO store needs settings that are missing:',
        '  --minio-endpoint or HOLDFAST_MINIO_ENDPOINT',
        '  --minio-bucket or HOLDFAST_MINIO_BUCKET',
        '  HOLDFAST_MINIO_ACCESS_KEY or HOLDFAST_MINIO_ACCESS_KEY_FILE',
        '  HOLDFAST_MINIO_SECRET_KEY or HOLDFAST_MINIO_SECRET_KEY_FILE',
      ].join('\n'),
    )
  })

  it('names only what it lacks', async () => {
    const message = await refusal({
      flags: { 'minio-endpoint': 'http://127.0.0.1:9' },
      environment: { HOLDFAST_MINIO_BUCKET: 'files', HOLDFAST_MINIO_ACCESS_KEY: 'k' },
    })
    expect(message.split('\n')).to.have.length(2)
    expect(message).to.include('HOLDFAST_MINIO_SECRET_KEY or').and.not.include('ACCESS_KEY')
  })

  it('refuses keys that are given twice', async () => {
    const environment = { HOLDFAST_MINIO_ACCESS_KEY: 'k', HOLDFAST_MINIO_ACCESS_KEY_FILE: 'f' }
    expect(await refusal({ environment })).to.include('Both HOLDFAST_MINIO_ACCESS_KEY and')
  })
})

describeWithMinio('openStore, for a bucket', (minio) => {
  for (const [size, isKept] of [
    ['32MiB', true],
    ['0', false],
  ] as const) {
    it(`keeps ${isKept ? '' : 'no '}small files in memory with --cache-size ${size}`, async () => {
      const { endpoint } = minio()
      const bucket = await minio().createBucket()
      const config = resolveConfig({
        flags: { 'minio-endpoint': endpoint, 'minio-bucket': bucket, 'cache-size': size },
        environment: minioKeys(minio()),
      })
      const store = await openStore('minio', config, log)
      const key = { customer: 'alice', name: 'small' }
      await store.put(key, Readable.from([Buffer.from('content')]))
      const open = async () => (await store.open(key))?.bytes
      const before = await open()
      expect(before).to.deep.equal(Buffer.from('content'))
      expect((await open()) === before, 'the same buffer').to.equal(isKept)
      await store.close()
    })
  }
})

describe('locationOf', () => {
  it('says where files are kept, and no secret', () => {
    const environment = {
      HOLDFAST_MINIO_ENDPOINT: 'http://minio:9000',
      HOLDFAST_MINIO_BUCKET: 'files',
      HOLDFAST_MINIO_PREFIX: 'holdfast/',
      HOLDFAST_MINIO_ACCESS_KEY: 'k',
      HOLDFAST_MINIO_SECRET_KEY: 's',
    }
    const config = resolveConfig({ environment })
    expect(locationOf('disk', config)).to.deep.equal({ data: './data' })
    expect(locationOf('minio', config)).to.deep.equal({
      endpoint: 'http://minio:9000',
      bucket: 'files',
      prefix: 'holdfast/',
    })
  })
})

const silent = pino({ level: 'silent' })
const keeping: Credential = { name: 'alice', passwordHash: 'x', keepReplacedMs: 60_000 }

async function refusal(settings: Partial<KeepingSettings>, keepMs?: number): Promise<string> {
  try {
    await checkKeeping(settingsOf(settings, keepMs), silent)
    return ''
  } catch (error) {
    expect(error).to.be.instanceOf(SetupError)
    return String(error)
  }
}

function settingsOf(settings: Partial<KeepingSettings>, keepMs?: number): KeepingSettings {
  return {
    store: {},
    config: { store: 'minio', 'keep-replaced': keepMs },
    credentials: () => [],
    ...settings,
  }
}

describe('checkKeeping', () => {
  it('refuses --keep-replaced for a store that cannot keep', async () => {
    expect(await refusal({}, 60_000)).to.equal(
      'SetupError: --keep-replaced is set, but the minio store cannot keep what is replaced. Leave --keep-replaced out.',
    )
  })

  it('refuses a customer of whom is to be kept, with the reason of the store', async () => {
    const store = { historyProblem: async () => 'The bucket keeps no versions.' }
    expect(await refusal({ store, credentials: () => [keeping] })).to.equal(
      'SetupError: The customer "alice" has keepReplaced, but the minio store cannot keep what is replaced. The bucket keeps no versions. Remove keepReplaced from the customers file.',
    )
  })

  it('accepts a store that keeps, and one of which nothing is to be kept', async () => {
    expect(await refusal({ store: createMemoryBlobStore() }, 60_000)).to.equal('')
    expect(await refusal({ credentials: () => [{ ...keeping, keepReplacedMs: 0 }] }, 0)).to.equal(
      '',
    )
    expect(await refusal({})).to.equal('')
  })

  it('logs an error if a customer gets such a setting later', async () => {
    const lines: { readonly level: number; readonly msg: string; readonly reason: string }[] = []
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) })
    let credentials: readonly Credential[] = []
    const settings = settingsOf({ credentials: () => credentials })
    const check = await checkKeeping(settings, log)
    await check.again()
    credentials = [keeping]
    await check.again()
    await check.close()
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      [50, 'what is replaced is not kept'],
    ])
    expect(lines[0]?.reason).to.include('"alice" has keepReplaced')
  })
})
