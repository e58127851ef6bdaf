import { join } from 'node:path'
import { Writable } from 'node:stream'
import { makeCertificate, createTlsSite, type TlsSite } from '@holdfast/testing'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { openCertificate, type CertificateSource } from '../../src/tls/open-certificate.ts'

describe('openCertificate', () => {
  let site: TlsSite
  let source: CertificateSource | undefined
  let logged: string
  beforeEach(async () => {
    site = await createTlsSite()
    logged = ''
  })
  afterEach(async () => {
    await source?.close()
    await site.remove()
  })

  const open = async (options: Parameters<typeof openCertificate>[2] = {}) => {
    const flags = { 'tls-cert': join(site.path, 'cert.pem'), 'tls-key': join(site.path, 'key.pem') }
    const log = pino(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          logged += chunk.toString()
          done()
        },
      }),
    )
    source = await openCertificate(resolveConfig({ flags }), log, options)
    if (source === undefined) throw new Error('There is none')
    return source
  }
  const times = (message: string) => logged.split(message).length - 1

  it('is nothing where none is configured', async () => {
    expect(await openCertificate(resolveConfig(), pino({ level: 'silent' }))).to.equal(undefined)
  })

  it('reminds again and again of what should be mended, as it is then', async () => {
    const soon = await makeCertificate({ days: 5 })
    await site.write('cert.pem', soon.certificate)
    await site.write('key.pem', soon.privateKey)
    await open({ warningIntervalMs: 20 })
    await until('it has warned thrice', () => times('expires in 4 days') >= 3)
    await site.write('cert.pem', site.certificate.certificate)
    await site.write('key.pem', site.certificate.privateKey)
    await until('the new one is taken', () => times('TLS certificate reloaded') === 1)
    const warnings = times('expires in 4 days')
    await source?.reload()
    expect(times('expires in 4 days')).to.equal(warnings)
  })

  it('reads the files at once when asked, and says whether they were taken', async () => {
    const opened = await open({ pollIntervalMs: 3_600_000 })
    const shown: string[] = []
    opened.onReplaced(({ certificate }) => shown.push(certificate))
    expect(await opened.reload()).to.equal(true)
    expect(shown).to.deep.equal([])
    const next = await makeCertificate()
    await site.write('cert.pem', next.certificate)
    expect(await opened.reload()).to.equal(false)
    expect(opened.current().certificate).to.equal(site.certificate.certificate)
    await site.write('key.pem', next.privateKey)
    expect(await opened.reload()).to.equal(true)
    expect(shown).to.deep.equal([next.certificate])
    expect(opened.current().certificate).to.equal(next.certificate)
  })

  it('says nothing of files that are wrong for a moment only', async () => {
    const opened = await open({ pollIntervalMs: 50 })
    const next = await makeCertificate({ days: 90 })
    await site.write('cert.pem', next.certificate)
    await site.write('key.pem', next.privateKey)
    await until('they are taken', () => opened.current().certificate === next.certificate)
    expect(logged).not.to.include('refused')
  })
})
