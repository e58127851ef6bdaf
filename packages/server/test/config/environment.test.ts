import { join } from 'node:path'
import { createSite, type Site, runHoldfast, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { readSecret, unknownVariables } from '../../src/config/environment.ts'

describe('readSecret', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const read = (environment: Readonly<Record<string, string>>) =>
    readSecret('minio-secret-key', environment)

  const fromFile = async (content: string) =>
    read({ HOLDFAST_MINIO_SECRET_KEY_FILE: await site.write('secret', content) })

  const refusal = async (reading: Promise<unknown>) => {
    try {
      await reading
    } catch (error) {
      if (error instanceof SetupError) return error.message.replaceAll(site.path, '')
      throw error
    }
    throw new Error('It was accepted')
  }

  for (const end of ['', '\n', '\r\n']) {
    it(`takes variable and file without ${JSON.stringify(end)} at the end`, async () => {
      expect(await read({ HOLDFAST_MINIO_SECRET_KEY: ` s3cret ${end}` })).to.equal(' s3cret ')
      expect(await fromFile(` s3cret ${end}`)).to.equal(' s3cret ')
    })
  }

  it('takes empty variables for ones that are not set', async () => {
    const none = { HOLDFAST_MINIO_SECRET_KEY: '', HOLDFAST_MINIO_SECRET_KEY_FILE: '' }
    expect(await read(none)).to.equal(undefined)
    expect(await read({ ...none, HOLDFAST_MINIO_SECRET_KEY: 's3cret' })).to.equal('s3cret')
  })

  it('has none where none is set', async () => {
    expect(await read({ HOLDFAST_MINIO_ACCESS_KEY: 'of another' })).to.equal(undefined)
  })

  it('refuses both at once', async () => {
    const both = { HOLDFAST_MINIO_SECRET_KEY: 's3cret', HOLDFAST_MINIO_SECRET_KEY_FILE: '/f' }
    expect(await refusal(read(both))).to.equal(
      'Both HOLDFAST_MINIO_SECRET_KEY and HOLDFAST_MINIO_SECRET_KEY_FILE are set; unset one of them.',
    )
  })

  it('names file and variable when the file cannot be read', async () => {
    const missing = { HOLDFAST_MINIO_SECRET_KEY_FILE: join(site.path, 'none') }
    const message = await refusal(read(missing))
    expect(message).to.match(
      /^The file \/none that HOLDFAST_MINIO_SECRET_KEY_FILE names cannot be read \(ENOENT/,
    )
    expect(await refusal(read({ HOLDFAST_MINIO_SECRET_KEY_FILE: site.path }))).to.include('EISDIR')
  })

  it('refuses what has no line or several, without a word of them', async () => {
    const lines = await refusal(read({ HOLDFAST_MINIO_SECRET_KEY: 's3cret\nother' }))
    expect(lines).to.equal('HOLDFAST_MINIO_SECRET_KEY has more than one line.')
    expect(await refusal(fromFile('\n'))).to.include('/secret that HOLDFAST_MINIO_SECRET_KEY_FILE')
    expect(await refusal(fromFile(''))).to.include('is empty.')
    const message = await refusal(fromFile('s3cret\nother\n'))
    expect(message).to.include('has more than one line.').and.not.include('s3cret')
  })
})

describe('unknownVariables', () => {
  for (const [name, meant] of [
    ['HOLDFAST_PRT', 'HOLDFAST_PORT'],
    ['HOLDFAST_ADMINPORT', 'HOLDFAST_ADMIN_PORT'],
    ['holdfast_data', 'HOLDFAST_DATA'],
    ['HOLDFAST_MINIO_SECRETKEY', 'HOLDFAST_MINIO_SECRET_KEY'],
    ['HOLDFAST_CONFG', 'HOLDFAST_CONFIG'],
  ] as const) {
    it(`takes ${name} for a slip of ${meant}, and does not show its value`, () => {
      expect(unknownVariables({ [name]: 'a secret' })).to.deep.equal([
        `${name} is not a setting and is ignored. Did you mean ${meant}?`,
      ])
    })
  }

  it('knows no name for one that is far from all', () => {
    expect(unknownVariables({ HOLDFAST_SOMETHING_ELSE: '1' })).to.deep.equal([
      'HOLDFAST_SOMETHING_ELSE is not a setting and is ignored.',
    ])
  })

  it('passes over settings, other programs, empty ones, and those of the project and of Kubernetes', () => {
    const environment = {
      PATH: '/bin',
      HOLDFAST_PORT: '80',
      HOLDFAST_MINIO_SECRET_KEY_FILE: '/run/secret',
      HOLDFAST_PRT: '',
      HOLDFAST_WITHOUT_CONTAINERS: '1',
      HOLDFAST_BENCH_NGINX: '1',
      HOLDFAST_SERVICE_HOST: '10.0.0.1',
      HOLDFAST_SERVICE_PORT_HTTP: '3000',
      HOLDFAST_ADMIN_SERVICE_PORT: '3001',
      HOLDFAST_PORT_3000_TCP_ADDR: '10.0.0.1',
      HOLDFAST_WEB_PORT: 'tcp://10.0.0.1:3000',
    }
    expect(unknownVariables(environment)).to.deep.equal([])
  })

  it('is printed by every other command before it begins', async () => {
    const site = await createSite()
    const env = { HOLDFAST_CUSTOMER: 'x' }
    const { code, stderr } = await runHoldfast(['customers', 'list'], { cwd: site.path, env })
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr:
        'holdfast: HOLDFAST_CUSTOMER is not a setting and is ignored. Did you mean HOLDFAST_CUSTOMERS?\n',
    })
    await site.remove()
  })

  it('is in the log of a server that starts with one', async () => {
    const site = await createSite()
    const env = { HOLDFAST_WORKER: '2' }
    const server = await startHoldfast([], { cwd: site.path, env })
    try {
      const line = await server.logged('HOLDFAST_WORKER is not a setting')
      expect(line).to.include({ level: 40 })
      expect(line['msg']).to.include('Did you mean HOLDFAST_WORKERS?')
    } finally {
      await server.kill()
      await site.remove()
    }
  })
})
