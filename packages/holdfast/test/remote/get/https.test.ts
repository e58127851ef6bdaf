import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeCertificate } from '@holdfast/minio-container/make-certificate'
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
})
