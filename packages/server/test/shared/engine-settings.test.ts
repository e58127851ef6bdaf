import { join } from 'node:path'
import { SetupError } from '@holdfast/core'
import { createSite, makeCertificate, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { findEngineSettings } from '../../src/shared/open-shared-state.ts'

describe('findEngineSettings', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const find = (environment: Readonly<Record<string, string>>) =>
    findEngineSettings(resolveConfig({ environment }))

  const refusal = async (environment: Readonly<Record<string, string>>) => {
    try {
      await find(environment)
    } catch (error) {
      if (error instanceof SetupError) return error.message.replaceAll(site.path, '')
      throw error
    }
    throw new Error('It was accepted')
  }

  it('has none where no URL is set, also with a password', async () => {
    expect(await find({})).to.equal(undefined)
    expect(await find({ HOLDFAST_SHARED_PASSWORD: 's3cret' })).to.equal(undefined)
  })

  it('has the URL and the prefix alone where nothing else is set', async () => {
    expect(await find({ HOLDFAST_SHARED_URL: 'redis://127.0.0.1' })).to.deep.equal({
      url: 'redis://127.0.0.1',
      prefix: 'holdfast',
    })
  })

  it('reads the passwords and the authorities from their files', async () => {
    const { certificate } = await makeCertificate()
    const found = await find({
      HOLDFAST_SHARED_URL: 'rediss+sentinel://a:26379,b:26379/main',
      HOLDFAST_SHARED_USER: 'holdfast',
      HOLDFAST_SHARED_PASSWORD_FILE: await site.write('password', 's3cret\n'),
      HOLDFAST_SHARED_SENTINEL_PASSWORD: 'other',
      HOLDFAST_SHARED_CA: await site.write('ca.pem', certificate),
      HOLDFAST_SHARED_PREFIX: 'eu',
    })
    expect(found).to.deep.equal({
      url: 'rediss+sentinel://a:26379,b:26379/main',
      username: 'holdfast',
      password: 's3cret',
      sentinelPassword: 'other',
      ca: certificate,
      prefix: 'eu',
    })
  })

  it('refuses a user without a password', async () => {
    const message = await refusal({
      HOLDFAST_SHARED_URL: 'redis://valkey',
      HOLDFAST_SHARED_USER: 'holdfast',
    })
    expect(message).to.equal(
      'The user of Valkey or Redis (--shared-user) has no password; set HOLDFAST_SHARED_PASSWORD, or HOLDFAST_SHARED_PASSWORD_FILE with the path of a file that holds it.',
    )
  })

  it('refuses authorities for a connection that is not encrypted, and those that it cannot read', async () => {
    const encrypted = { HOLDFAST_SHARED_URL: 'rediss://valkey' }
    expect(
      await refusal({ HOLDFAST_SHARED_URL: 'redis://valkey', HOLDFAST_SHARED_CA: 'ca.pem' }),
    ).to.include('write rediss instead of redis')
    const missing = { ...encrypted, HOLDFAST_SHARED_CA: join(site.path, 'none.pem') }
    expect(await refusal(missing)).to.match(/^The file \/none\.pem \(--shared-ca\) .*ENOENT/)
    const other = { ...encrypted, HOLDFAST_SHARED_CA: await site.write('ca.pem', 'no PEM') }
    expect(await refusal(other)).to.include('/ca.pem (--shared-ca) is not a certificate in PEM')
  })
})
