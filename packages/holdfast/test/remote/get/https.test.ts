import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeCertificate } from '@holdfast/testing'
import {
  createSite,
  credentials,
  runHoldfast,
  startHoldfast,
  type HoldfastServer,
  type Site,
} from '@holdfast/testing'
import { expect } from 'chai'
import { contentOf, digestOf, mebibyte } from '../support/logged-in.ts'

describe('holdfast put and get by HTTPS', () => {
  let site: Site
  let server: HoldfastServer
  beforeEach(async () => {
    site = await createSite()
    const { certificate, privateKey } = await makeCertificate()
    await site.write('cert.pem', certificate)
    await site.write('key.pem', privateKey)
    const tls = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem']
    server = await startHoldfast(tls, { cwd: site.path })
  })
  afterEach(async () => {
    await server.kill()
    await site.remove()
  })

  it('keep every byte of a large file', async () => {
    const content = contentOf(48 * mebibyte)
    await writeFile(join(site.path, 'large'), content)
    const env = {
      HOME: site.path,
      HOLDFAST_URL: server.url,
      HOLDFAST_NAME: credentials['x-auth-name'],
      HOLDFAST_PASSWORD: credentials['x-auth-password'],
      NODE_EXTRA_CA_CERTS: join(site.path, 'cert.pem'),
    }
    for (const args of [
      ['put', 'large'],
      ['get', 'large', '-o', 'copy'],
    ]) {
      const { code, stderr } = await runHoldfast(args, { cwd: site.path, env })
      expect({ code, stderr }).to.deep.include({ code: 0 })
    }
    expect(digestOf(await readFile(join(site.path, 'copy')))).to.equal(digestOf(content))
  })

  const list = (url: string) =>
    runHoldfast(['ls'], {
      cwd: site.path,
      env: {
        HOME: site.path,
        HOLDFAST_URL: url,
        HOLDFAST_NAME: credentials['x-auth-name'],
        HOLDFAST_PASSWORD: credentials['x-auth-password'],
      },
    })

  it('say at once that the certificate is not trusted, and what to do', async () => {
    expect(await list(server.url)).to.deep.equal({
      code: 1,
      stdout: '',
      stderr:
        'holdfast: Failed: The certificate of the server is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); to trust its issuer, set NODE_EXTRA_CA_CERTS to a file with that certificate\n',
    })
  })

  it('say at once that the server speaks none', async () => {
    const plain = await startHoldfast([], { cwd: site.path })
    const { code, stderr } = await list(plain.url.replace('http:', 'https:'))
    await plain.kill()
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr:
        'holdfast: Failed: The server does not speak HTTPS at this address; http:// may be right\n',
    })
  })
})
