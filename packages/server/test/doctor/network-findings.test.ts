import { makeCertificate } from '@holdfast/minio-container/make-certificate'
import { expect } from 'chai'
import { networkFindings } from '../../src/doctor/network-findings.ts'
import { resolveConfig } from '../../src/index.ts'
import { createSite } from '../support/site.ts'

const told = async (flags: Readonly<Record<string, string>>) => {
  const lines: string[] = []
  for await (const { check, mark, message, remedies } of networkFindings(
    resolveConfig({ flags }),
  )) {
    lines.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

describe('networkFindings', () => {
  it('is content on this machine, and behind a proxy', async () => {
    expect(await told({})).to.deep.equal(['ok: encryption: not needed on this machine alone'])
    expect(await told({ host: '0.0.0.0', 'trust-proxy': '10.0.0.1' })).to.deep.equal([
      'ok: encryption: is left to the proxy',
      'ok: proxies: believed: 10.0.0.1',
    ])
  })

  it('warns where passwords would cross a network in clear', async () => {
    const [line, ...others] = await told({ host: '0.0.0.0' })
    expect(others).to.deep.equal([])
    expect(line).to.match(/^warning: encryption: Passwords and files cross the network unencrypted/)
    expect(line).to.include('| Give --tls-cert and --tls-key |')
  })

  it('tells of proxies that are none', async () => {
    expect((await told({ 'trust-proxy': 'proxy' }))[1]).to.match(/^problem: proxies: The trusted/)
  })

  it('tells of a certificate, until when it is valid, and what is wrong with it', async () => {
    const site = await createSite()
    const { certificate, privateKey } = await makeCertificate()
    const flags = {
      'tls-cert': await site.write('cert.pem', certificate),
      'tls-key': await site.write('key.pem', privateKey),
    }
    const [encryption, line] = await told(flags)
    expect(encryption).to.equal('ok: encryption: TLS')
    expect(line).to.match(/: certificate: .*cert\.pem.*\d{4}-\d\d-\d\dT/)
    const [, alone] = await told({ 'tls-cert': flags['tls-cert'] })
    expect(alone).to.match(/^problem: certificate: TLS needs a certificate and its key/)
    const [, missing] = await told({ ...flags, 'tls-key': `${site.path}/none` })
    expect(missing).to.match(/^problem: certificate: .*none \(--tls-key\) does not exist \| give/)
    await site.remove()
  })
})
