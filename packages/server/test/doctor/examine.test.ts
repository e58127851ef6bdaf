import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { makeCertificate } from '@holdfast/testing'
import { createSite } from '@holdfast/testing'
import { expect } from 'chai'
import { networkFindings } from '../../src/doctor/examine.ts'
import { resolveConfig } from '../../src/index.ts'

const allTold = async (flags: Readonly<Record<string, string>>) => {
  const lines: string[] = []
  const config = resolveConfig({ flags: { port: '0', ...flags } })
  for await (const { check, mark, message, remedies } of networkFindings(config)) {
    lines.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

const told = async (flags: Readonly<Record<string, string>>) => (await allTold(flags)).slice(1)

describe('networkFindings', () => {
  it('says whether the server can listen, and what to do where not', async () => {
    expect((await allTold({}))[0]).to.equal('ok: listening: on 127.0.0.1, any port')
    const [elsewhere] = await allTold({ host: '192.0.2.1', port: '4711' })
    expect(elsewhere).to.equal(
      'problem: listening: Cannot listen on 192.0.2.1 port 4711: this machine does not have the address | Choose another --host.',
    )
  })

  it('takes whoever listens there already for the server', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const [taken] = await allTold({ port: `${port}` })
    await once(server.close(), 'close')
    expect(taken).to.equal(
      `skipped: listening: 127.0.0.1 port ${port} is taken: by the server, if it runs`,
    )
    expect((await allTold({ port: `${port}` }))[0]).to.equal(
      `ok: listening: on 127.0.0.1 port ${port}`,
    )
  })

  it('says the same of the admin port, where there is to be one', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const [, taken] = await allTold({ 'admin-port': `${port}` })
    const [, same] = await allTold({ port: `${port}`, 'admin-port': `${port}` })
    const elsewhere = { 'admin-host': '192.0.2.1', 'admin-port': '4711' }
    const [, away] = await allTold(elsewhere)
    await once(server.close(), 'close')
    expect(taken).to.equal(
      `skipped: admin port: 127.0.0.1 port ${port} is taken: by the server, if it runs`,
    )
    expect(same).to.match(/^problem: admin port: The ports for customers .* are both \d+ \| choose/)
    expect(away).to.equal(
      'problem: admin port: Cannot listen on 192.0.2.1 port 4711: this machine does not have the address | Choose another --admin-host.',
    )
  })

  it('is content on this machine, and behind a proxy', async () => {
    expect(await told({})).to.deep.equal(['ok: encryption: not needed on this machine alone'])
    expect(await told({ host: '0.0.0.0', 'trust-proxy': '10.0.0.1' })).to.deep.equal([
      'ok: encryption: is left to the proxy',
      'ok: proxies: trusted: 10.0.0.1',
    ])
  })

  it('warns where passwords would cross a network in clear', async () => {
    const [line, ...others] = await told({ host: '0.0.0.0' })
    expect(others).to.deep.equal([])
    expect(line).to.match(/^warning: encryption: Passwords and files cross the network unencrypted/)
    expect(line).to.include('| Give --tls-cert and --tls-key |')
  })

  it('reports proxies that are none', async () => {
    expect((await told({ 'trust-proxy': 'proxy' }))[1]).to.match(/^problem: proxies: The trusted/)
  })

  it('reports a certificate, until when it is valid, and what is wrong with it', async () => {
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
