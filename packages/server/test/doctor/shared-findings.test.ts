import { makeCertificate, createSite } from '@holdfast/testing'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { examine } from '../../src/doctor/examine.ts'
import { sharedFindings } from '../../src/doctor/shared-findings.ts'

const found = async (environment: Readonly<Record<string, string>>) => {
  const lines: string[] = []
  for await (const each of sharedFindings(resolveConfig({ environment }))) {
    const { check, mark, message, remedies } = each
    lines.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

describe('sharedFindings', () => {
  it('finds nothing where each server counts for itself', async () => {
    expect(await found({})).to.deep.equal([])
  })

  it('is content on this machine', async () => {
    expect(await found({ HOLDFAST_SHARED_URL: 'redis://127.0.0.1:6379' })).to.deep.equal([
      'ok: keys: begin with holdfast:',
      'ok: encryption: not needed on this machine alone',
      'ok: password: none, on this machine alone',
    ])
  })

  it('is content with TLS and a password', async () => {
    const environment = {
      HOLDFAST_SHARED_URL: 'rediss+cluster://192.0.2.1:6379,192.0.2.2:6379',
      HOLDFAST_SHARED_PASSWORD: 's3cret',
      HOLDFAST_SHARED_PREFIX: 'eu',
    }
    expect(await found(environment)).to.deep.equal([
      'ok: keys: begin with eu:',
      'ok: encryption: TLS',
      'ok: password: is set',
    ])
  })

  it('warns where others of the network can read and change what is counted', async () => {
    const [, encryption, password] = await found({
      HOLDFAST_SHARED_URL: 'redis+sentinel://127.0.0.1:26379,192.0.2.2:26379/main',
    })
    expect(encryption).to.match(/^warning: encryption: .*unencrypted \| write rediss instead/)
    expect(password).to.match(/^warning: password: none: .* \| .*HOLDFAST_SHARED_PASSWORD_FILE$/)
  })
})

describe('examine', () => {
  const sharedSection = async (environment: Readonly<Record<string, string>>) => {
    for await (const { title, findings } of examine(resolveConfig({ environment }))) {
      const marks: string[] = []
      for await (const { mark, message } of findings) marks.push(`${mark}: ${message}`)
      if (title === 'Several servers') return marks
    }
    return undefined
  }

  it('has a section for several servers only where they count together', async () => {
    const site = await createSite()
    const ca = await site.write('ca.pem', (await makeCertificate()).certificate)
    const local = { HOLDFAST_DATA: `${site.path}/data` }
    const wrong = { ...local, HOLDFAST_SHARED_URL: 'redis://127.0.0.1', HOLDFAST_SHARED_CA: ca }
    try {
      expect(await sharedSection(local)).to.equal(undefined)
      expect(await sharedSection(wrong)).to.deep.equal([
        'problem: The connection to Valkey or Redis is not encrypted, so that --shared-ca has no effect',
      ])
    } finally {
      await site.remove()
    }
  })
})
