import { X509Certificate } from 'node:crypto'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import {
  makeCertificate,
  type Certificate,
  createTlsSite,
  validDays,
  type TlsSite,
} from '@holdfast/testing'
import {
  type Connection,
  credentials,
  customersYaml,
  type HoldfastServer,
  openConnection,
  until,
  uploadHead,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve, when its certificate changes,', () => {
  let site: TlsSite
  let server: HoldfastServer
  let next: Certificate
  beforeEach(async () => {
    site = await createTlsSite()
    next = await makeCertificate({ days: validDays })
  })
  afterEach(async () => {
    await server.kill()
    await site.remove()
  })

  const start = async (...args: string[]) => {
    server = await site.start(args)
  }
  const at = (name: string) => join(site.path, name)

  const connect = (certificate: Certificate) =>
    openConnection(server.port, { ca: certificate.certificate })
  const isShown = async ({ certificate }: Certificate) => {
    // Believes both, so that it is the server that says which.
    const either = site.certificate.certificate + certificate
    const { socket } = await openConnection(server.port, { ca: either })
    const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
    socket.destroy()
    return shown?.fingerprint256 === new X509Certificate(certificate).fingerprint256
  }
  const ping = async (connection: Connection, times: number) => {
    connection.write('GET /ping HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(
      () => `pong number ${times} comes`,
      () => connection.received().split('pong').length > times,
    )
  }

  it('shows the new one to new connections, while those that there are go on', async () => {
    await start()
    const size = 32 * 1024 * 1024
    const content = Buffer.alloc(size, 'content')
    await writeFile(at('big'), content)
    await site.curl('-T', 'big', `${server.url}/upload/big`)
    const kept = await connect(site.certificate)
    await ping(kept, 1)
    const download = await connect(site.certificate)
    const chunks: Buffer[] = []
    download.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    const auth = Object.entries(credentials).map(([name, value]) => `${name}: ${value}`)
    download.write(
      ['GET /serve/big HTTP/1.1', 'Host: x', 'Connection: close', ...auth, '\r\n'].join('\r\n'),
    )
    await until('the download is under way', () => chunks.length > 0)
    download.socket.pause()
    const upload = await connect(site.certificate)
    upload.write(uploadHead('a.txt', 10))
    upload.write('first')
    await until('the upload is under way', async () => (await site.litter()).length === 1)

    await site.write('cert.pem', next.certificate)
    await site.write('key.pem', next.privateKey)
    expect(await server.logged('TLS certificate reloaded')).to.have.property('expires')
    expect(await isShown(next)).to.equal(true)

    await ping(kept, 2)
    upload.write('+last')
    await upload.saw('HTTP/1.1 200 OK')
    download.socket.resume()
    await download.closed
    const received = Buffer.concat(chunks)
    expect(received.subarray(received.indexOf('\r\n\r\n') + 4).equals(content)).to.equal(true)
    for (const { socket } of [kept, upload]) socket.destroy()
  })

  it('keeps the old one while the key has yet to come, and takes both then', async () => {
    await start()
    await site.write('cert.pem', next.certificate)
    const { reason, level } = await server.logged(
      'TLS certificate refused; the earlier one stays in use',
    )
    expect(level).to.equal(50)
    expect(reason).to.match(/^The TLS key key\.pem \(--tls-key\) does not belong to .* cert\.pem/)
    expect(await isShown(site.certificate)).to.equal(true)
    await site.write('key.pem', next.privateKey)
    await server.logged('TLS certificate reloaded')
    expect(await isShown(next)).to.equal(true)
  })

  it('keeps the old one when the new one is broken, says so once, and at every SIGHUP', async () => {
    await start()
    await site.write('cert.pem', next.certificate.slice(0, 200))
    await server.logged('TLS certificate refused')
    for (const times of [2, 3]) {
      server.signal('SIGHUP')
      const { reason } = await server.logged('TLS certificate refused', times)
      expect(reason).to.include('cert.pem').and.to.include('PEM')
    }
    expect(await isShown(site.certificate)).to.equal(true)
    await rm(at('cert.pem'))
    await server.logged('TLS certificate refused', 4)
    await site.write('cert.pem', site.certificate.certificate)
    expect(await isShown(site.certificate)).to.equal(true)
  })

  it('takes files replaced by rename, as certbot and editors do', async () => {
    await start()
    await site.write('cert.new', next.certificate)
    await site.write('key.new', next.privateKey)
    for (const name of ['cert', 'key']) await rename(at(`${name}.new`), at(`${name}.pem`))
    await server.logged('TLS certificate reloaded')
    expect(await isShown(next)).to.equal(true)
  })

  it('takes files swapped by a symbolic link on the way, as Kubernetes does', async () => {
    const versions = { '..1': site.certificate, '..2': next }
    for (const [version, { certificate, privateKey }] of Object.entries(versions)) {
      await mkdir(at(version))
      await writeFile(join(at(version), 'tls.crt'), certificate)
      await writeFile(join(at(version), 'tls.key'), privateKey, { mode: 0o600 })
    }
    await symlink('..1', at('..data'))
    for (const name of ['tls.crt', 'tls.key']) await symlink(`..data/${name}`, at(name))
    await start('--tls-cert', 'tls.crt', '--tls-key', 'tls.key')
    await symlink('..2', at('..data_tmp'))
    await rename(at('..data_tmp'), at('..data'))
    await server.logged('TLS certificate reloaded')
    expect(await isShown(next)).to.equal(true)
    expect(server.output()).not.to.include('refused')
  })

  it('still reloads the customers at SIGHUP', async () => {
    await start()
    await site.write('customers.yaml', customersYaml('bob', 'p'))
    server.signal('SIGHUP')
    await server.logged('customers reloaded')
    expect(server.output()).not.to.include('TLS certificate reloaded')
  })

  it('warns at once when the new one expires soon, and when its key may be read by all', async () => {
    const soon = await makeCertificate({ days: 3 })
    await start()
    await writeFile(at('key.new'), soon.privateKey, { mode: 0o644 })
    await rename(at('key.new'), at('key.pem'))
    await site.write('cert.pem', soon.certificate)
    await server.logged('cert.pem: the TLS certificate expires in 2 days')
    const { msg } = await server.logged('key.pem: the TLS key may be read by every user')
    expect(msg).to.include('run: chmod o= key.pem')
  })
})
