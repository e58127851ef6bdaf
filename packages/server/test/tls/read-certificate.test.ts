import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  makeCertificate,
  createTlsSite,
  tlsFlags,
  validDays,
  type TlsSite,
} from '@holdfast/testing'
import { runHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { readCertificate } from '../../src/tls/open-certificate.ts'

describe('readCertificate', () => {
  let site: TlsSite
  beforeEach(async () => {
    site = await createTlsSite()
  })
  afterEach(() => site.remove())

  const at = (name: string) => join(site.path, name)
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args, { cwd: site.path })
  const read = (certificate = 'cert.pem', key = 'key.pem') =>
    readCertificate({ certificate: at(certificate), key: at(key) })
  const refusal = async (reading: Promise<unknown>) => {
    const error = await reading.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (error instanceof SetupError) return error.message.replaceAll(`${site.path}/`, '')
    throw new Error('It was not refused', { cause: error })
  }

  it('gives both as they are, and says how long the certificate is valid', async () => {
    const { certificate, privateKey, validToMs, validFromMs, keyMode } = await read()
    expect({ certificate, privateKey }).to.deep.equal(site.certificate)
    const days = (validToMs - validFromMs) / 86_400_000
    expect(days).to.equal(validDays)
    expect(keyMode).to.equal(0o600)
  })

  it('takes RSA, old forms of keys, text around the blocks, and Windows line ends', async () => {
    const subject = ['-subj', '/CN=localhost', '-days', '1']
    await openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      ...subject,
      '-keyout',
      'rsa.key',
      '-out',
      'rsa.crt',
    )
    await openssl('rsa', '-traditional', '-in', 'rsa.key', '-out', 'old.key')
    await read('rsa.crt', 'old.key')
    const windows = `Subject: me\n${site.certificate.certificate}`.replaceAll('\n', '\r\n')
    await site.write('windows.pem', windows)
    await read('windows.pem')
  })

  it('says the shortest time of a chain', async () => {
    const { certificate } = await makeCertificate({ days: 2 })
    await site.write('cert.pem', site.certificate.certificate + certificate)
    const { validToMs } = await read()
    expect(validToMs - Date.now()).to.be.within(1.9 * 86_400_000, 2 * 86_400_000)
  })

  it('refuses what is missing, a directory, and a pipe without a writer', async () => {
    await mkdir(at('folder'))
    await promisify(execFile)('mkfifo', [at('pipe')])
    expect(await refusal(read('none.pem'))).to.equal(
      'The TLS certificate none.pem (--tls-cert) does not exist; give the right path.',
    )
    expect(await refusal(read('cert.pem', 'none.key'))).to.match(
      /^The TLS key none\.key \(--tls-key\) does not exist/,
    )
    expect(await refusal(read('folder'))).to.include('is not an ordinary file')
    expect(await refusal(read('cert.pem', 'pipe'))).to.include('is not an ordinary file')
    expect(await refusal(read('cert.pem/x'))).to.include('cannot be read (ENOTDIR')
  })

  it('refuses what is not PEM, and says how to make it so', async () => {
    await openssl('x509', '-in', 'cert.pem', '-outform', 'der', '-out', 'cert.der')
    await openssl('pkey', '-in', 'key.pem', '-outform', 'der', '-out', 'key.der')
    expect(await refusal(read('cert.der')))
      .to.include('cert.der')
      .and.to.include('openssl x509')
    expect(await refusal(read('cert.pem', 'key.der'))).to.include('openssl pkey -inform der')
    await site.write('empty', '')
    expect(await refusal(read('empty'))).to.include('is not a certificate in PEM form')
  })

  it('sees that the two files are swapped', async () => {
    expect(await refusal(read('key.pem', 'cert.pem'))).to.include('swapped?')
    expect(await refusal(read('cert.pem', 'cert.pem'))).to.include('swapped?')
  })

  it('refuses damaged ones', async () => {
    const { certificate, privateKey } = site.certificate
    const damage = (pem: string) => pem.slice(0, 60) + pem.slice(120)
    await site.write('bad.pem', damage(certificate))
    await site.write('bad.key', damage(privateKey))
    await site.write('chain.pem', certificate + damage(certificate))
    expect(await refusal(read('bad.pem'))).to.match(/^The TLS certificate bad\.pem .* is damaged/)
    expect(await refusal(read('cert.pem', 'bad.key'))).to.match(
      /^The TLS key bad\.key .* is damaged/,
    )
    expect(await refusal(read('chain.pem'))).to.include('chain.pem (--tls-cert) is damaged')
  })

  it('refuses a key of another certificate, and a chain that begins with another', async () => {
    const other = await makeCertificate()
    await site.write('other.key', other.privateKey)
    expect(await refusal(read('cert.pem', 'other.key'))).to.equal(
      "The TLS key other.key (--tls-key) does not belong to the certificate cert.pem: give the key that it was made with, and put the server's own certificate first in its file.",
    )
    await site.write('upside-down.pem', other.certificate + site.certificate.certificate)
    expect(await refusal(read('upside-down.pem'))).to.include('certificate first')
  })

  it('refuses an encrypted key of either form, and says how to make it plain', async () => {
    const encrypt = ['-in', 'key.pem', '-aes256', '-passout', 'pass:secret', '-out']
    await openssl('pkey', ...encrypt, 'pkcs8.key')
    await openssl('ec', ...encrypt, 'old.key')
    for (const name of ['pkcs8.key', 'old.key']) {
      const message = await refusal(read('cert.pem', name))
      expect(message)
        .to.include(`${name} (--tls-key) is encrypted`)
        .and.to.include('openssl pkey -in')
    }
  })

  it('refuses what Node.js would not serve with, such as a key that is too short', async () => {
    const subject = ['-subj', '/CN=localhost', '-days', '1']
    await openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:512',
      '-nodes',
      ...subject,
      '-keyout',
      'short.key',
      '-out',
      'short.crt',
    )
    expect(await refusal(read('short.crt', 'short.key'))).to.match(
      /^The TLS certificate short\.crt \(--tls-cert\) cannot be used: .*key too small/,
    )
  })

  it('never shows a key', async () => {
    const secret = site.certificate.privateKey.split('\n')[1] ?? ''
    const certificate = at('key.pem')
    const message = await refusal(readCertificate({ certificate, key: certificate }))
    expect(message).not.to.include(secret.slice(0, 20))
  })

  it('is what keeps holdfast serve from starting, as is one of the two alone', async () => {
    const serve = (...args: string[]) =>
      runHoldfast(['serve', '--port', '0', ...args], { cwd: site.path, obeysPermissions: true })
    const alone = await serve('--tls-cert', 'cert.pem')
    expect(alone.stderr).to.match(
      /^holdfast: TLS needs .* but only --tls-cert is set: give --tls-key, too/,
    )
    expect(alone.code).to.equal(1)
    await promisify(execFile)('chmod', ['000', at('key.pem')])
    const unreadable = await serve(...tlsFlags)
    expect(unreadable.stderr).to.match(
      /^holdfast: The TLS key key\.pem .* may not be read \(uid \d+, gid \d+ may not read .*key\.pem, which belongs to uid \d+, gid \d+ and has mode 0000\)/,
    )
    expect(unreadable.code).to.equal(1)
  })
})
