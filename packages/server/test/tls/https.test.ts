import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  type HoldfastServer,
  openConnection,
  runHoldfast,
  until,
  uploadHead,
  createTlsSite,
  type TlsSite,
} from '@holdfast/testing'
import { expect } from 'chai'

const run = promisify(execFile)

describe('holdfast serve --tls-cert --tls-key', () => {
  let site: TlsSite
  let server: HoldfastServer | undefined
  beforeEach(async () => {
    site = await createTlsSite()
  })
  afterEach(async () => {
    await server?.kill()
    server = undefined
    await site.remove()
  })

  const start = async (...args: string[]) => {
    server = await site.start(args)
    return server
  }

  it('serves HTTPS to curl, and says so in the log, without a warning', async () => {
    const running = await start()
    const { url } = running
    expect(url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await site.curl(`${url}/ping`)).to.equal('pong')
    await site.write('a.txt', 'hi')
    expect(await site.curl('-F', 'file=@a.txt', `${url}/upload`)).to.equal('OK')
    expect(await site.curl('-T', 'a.txt', `${url}/upload/b.txt`)).to.equal('OK')
    expect(await site.curl(`${url}/list`)).to.equal('["a.txt","b.txt"]')
    const warnings = running.lines().filter(({ level }) => level === 40)
    expect(warnings.map(({ msg }) => msg).join()).not.to.match(/TLS|unencrypted/)
  })

  it('takes the paths from variables and from the configuration file, too', async () => {
    const file = await site.write('h.yaml', 'tls-cert: cert.pem\ntls-key: nowhere.pem\n')
    const env = { HOLDFAST_TLS_KEY: 'key.pem', HOLDFAST_CONFIG: file }
    const outcome = await runHoldfast(['serve', '--host', 'nowhere.invalid'], {
      cwd: site.path,
      env,
    })
    // It got as far as listening: certificate and key have been read.
    expect(outcome.stderr).to.include('Cannot listen on nowhere.invalid')
  })

  it('refuses TLS 1.1, and speaks 1.2 and 1.3, whatever the options of Node.js say', async () => {
    // With these options Node.js itself would take 1.0.
    const lax = '--tls-min-v1.0 --tls-cipher-list=DEFAULT:@SECLEVEL=0'
    server = await site.start([], { NODE_OPTIONS: lax })
    const { port } = server
    const handshake = async (version: string) => {
      const args = ['s_client', '-connect', `127.0.0.1:${port}`, `-${version}`]
      const client = spawn(
        'openssl',
        [...args, '-cipher', 'DEFAULT:@SECLEVEL=0', '-CAfile', 'ca.pem'],
        {
          cwd: site.path,
        },
      )
      client.stdin.end()
      const [stdout, stderr] = await Promise.all([text(client.stdout), text(client.stderr)])
      return stdout + stderr
    }
    expect(await handshake('tls1_1')).to.include('alert protocol version')
    expect(await handshake('tls1_2'))
      .to.match(/^\s*Protocol *: TLSv1\.2$/m)
      .and.to.include('Verify return code: 0 (ok)')
    expect(await handshake('tls1_3'))
      .to.include('New, TLSv1.3,')
      .and.to.include('Verification: OK')
  })

  it('agrees on HTTP/1.1 with a client that would rather speak HTTP/2', async () => {
    const { port } = await start()
    const ca = site.certificate.certificate
    const ALPNProtocols = ['h2', 'http/1.1']
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols })
    await once(socket, 'secureConnect')
    expect(socket.alpnProtocol).to.equal('http/1.1')
    socket.destroy()
  })

  it('sends the chain, so that a client needs to know the authority only', async () => {
    const openssl = (...args: string[]) => run('openssl', args, { cwd: site.path })
    const request = async (name: string, subject: string) => {
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
      await openssl(
        'req',
        ...key,
        '-keyout',
        `${name}.key`,
        '-subj',
        subject,
        '-out',
        `${name}.csr`,
      )
    }
    const sign = async (name: string, by: readonly string[], extension: string) => {
      await site.write(`${name}.ext`, extension)
      const signed = ['-extfile', `${name}.ext`, '-days', '90', '-out', `${name}.crt`]
      await openssl('x509', '-req', '-in', `${name}.csr`, ...by, ...signed)
    }
    const by = (name: string) => ['-CA', `${name}.crt`, '-CAkey', `${name}.key`, '-CAcreateserial']
    await request('root', '/CN=root')
    await sign('root', ['-signkey', 'root.key'], 'basicConstraints=CA:TRUE')
    await request('middle', '/CN=middle')
    await sign('middle', by('root'), 'basicConstraints=CA:TRUE')
    await request('leaf', '/CN=leaf')
    await sign('leaf', by('middle'), 'subjectAltName=IP:127.0.0.1')
    const [leaf, middle, key] = await Promise.all(
      ['leaf.crt', 'middle.crt', 'leaf.key'].map((name) => readFile(join(site.path, name), 'utf8')),
    )
    // Key and chain in one file, as HAProxy has it.
    const both = await site.write('all.pem', `${key}${leaf}${middle}`)
    const { url } = await start('--tls-cert', both, '--tls-key', both)
    expect(await site.curl('--cacert', 'root.crt', `${url}/ping`)).to.equal('pong')
  })

  it('answers HTTP without TLS with what to do', async () => {
    const { port, url } = await start()
    const answer = await fetch(`http://127.0.0.1:${port}/list`)
    expect(answer.status).to.equal(400)
    expect(await answer.json()).to.deep.equal({
      statusCode: 400,
      error: 'Bad Request',
      message: 'This port speaks HTTPS only: write https:// in the address',
    })
    expect(await site.curl(`${url}/ping`)).to.equal('pong')
  })

  it('answers what is no HTTP within TLS, and a body that ends too early', async () => {
    const { port } = await start()
    const ca = site.certificate.certificate
    const garbled = await openConnection(port, { ca })
    garbled.write('garbage\r\n\r\n')
    await garbled.saw('"message":"Malformed request"')
    await garbled.closed
    const halfClosed = await openConnection(port, { ca })
    halfClosed.socket.end(`${uploadHead('a', 10)}body`)
    await halfClosed.saw('"message":"Truncated body"')
  })

  it('knows the address of a client, and believes a trusted proxy in front', async () => {
    const running = await start('--trust-proxy', '127.0.0.1')
    await site.curl(`${running.url}/list`)
    expect(await running.logged('request')).to.include({ address: '127.0.0.1' })
    await site.curl('-H', 'X-Forwarded-For: 203.0.113.9', `${running.url}/list`)
    expect(await running.logged('request', 2)).to.include({ address: '203.0.113.9' })
  })

  it('keeps nothing of an upload whose connection breaks off', async () => {
    const { port } = await start()
    for (const breakOff of ['destroy', 'end'] as const) {
      const upload = await openConnection(port, { ca: site.certificate.certificate })
      upload.write(uploadHead('a', 10))
      upload.write('first')
      await until('it is under way', async () => (await site.litter()).length === 1)
      upload.socket[breakOff]()
      await upload.closed
      await until('nothing is left of it', async () => (await site.litter()).length === 0)
    }
    expect(await site.curl(`https://127.0.0.1:${port}/list`)).to.include('No files uploaded yet')
  })

  it('says at level debug why a handshake failed, and at others nothing', async () => {
    const running = await start('--log-level', 'debug')
    await fetch(`http://127.0.0.1:${running.port}/`)
    const line = await running.logged('TLS handshake failed')
    expect(line).to.include({ level: 20, address: '127.0.0.1' })
    expect(line['reason']).to.match(/http request/i)
    const warnings = running.lines().filter(({ level }) => Number(level) > 30)
    expect(warnings.map(({ msg }) => msg).join()).not.to.include('TLS')
  })
})
