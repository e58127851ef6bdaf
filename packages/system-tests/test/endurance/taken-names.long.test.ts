import { describeWithMinio } from '@holdfast/testing/minio'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

const uploads = 20
const protocol = { ...credentials, 'tus-resumable': '1.0.0' }
const piece = {
  ...protocol,
  'upload-offset': '0',
  'content-type': 'application/offset+octet-stream',
}

describe('Uploads in pieces whose name is taken while they come', function () {
  this.timeout(180_000)
  let site: Site
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
    await site.remove()
  })

  describeWithMinio('in a bucket', (minio) => {
    let bucket: string
    beforeEach(async () => {
      bucket = await minio().createBucket()
    })
    const start = async (...more: string[]) => {
      const { endpoint, accessKey, secretKey } = minio()
      const place = ['--minio-endpoint', endpoint, '--minio-bucket', bucket]
      const env = { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
      const server = await startHoldfast(['--store', 'minio', ...place, ...more], {
        cwd: site.path,
        env,
      })
      servers.push(server)
      return server.url
    }

    /** The last piece and five clients that ask, at once, of an upload that creates only and whose name was taken before. */
    async function storm(urls: readonly string[], name: string): Promise<void> {
      const url = (n: number) => urls[n % urls.length] ?? ''
      const begun = await fetch(`${url(0)}/resumable`, {
        method: 'POST',
        headers: {
          ...protocol,
          'upload-length': '3',
          'upload-metadata': `filename ${btoa(name)}`,
          'if-none-match': '*',
        },
      })
      const path = `/${begun.headers.get('location')}`
      const stored = await fetch(`${url(1)}/upload/${name}`, {
        method: 'PUT',
        headers: credentials,
        body: 'theirs',
      })
      expect(await stored.text()).to.equal('OK')
      const ask = (n: number) => fetch(url(n) + path, { method: 'HEAD', headers: protocol })
      const append = () => fetch(url(0) + path, { method: 'PATCH', headers: piece, body: 'own' })
      const answers = await Promise.all([append(), ...[1, 2, 3, 4, 5].map(ask)])
      for (const { status, headers } of answers) {
        const isComplete = status < 300 && headers.get('upload-offset') === '3'
        expect(isComplete, `${name} counts as stored`).to.equal(false)
      }
      // A look ends the append that is under way: then the piece has to come again.
      const { status, headers } = await ask(0)
      if (status === 200) {
        expect(headers.get('upload-offset'), name).to.equal('0')
        expect((await append()).status, name).to.equal(412)
      }
      for (const n of [0, 1]) expect((await ask(n)).status, name).to.equal(412)
      const served = await fetch(`${url(0)}/serve/${name}`, { headers: credentials })
      expect(await served.text()).to.equal('theirs')
      // The bytes are there still.
      await fetch(`${url(1)}/delete/${name}`, { method: 'DELETE', headers: credentials })
      expect((await ask(0)).status, name).to.equal(200)
      const own = await fetch(`${url(1)}/serve/${name}`, { headers: credentials })
      expect(await own.text()).to.equal('own')
    }

    it('never count as stored at one of two servers, and keep their bytes', async () => {
      const urls = [await start(), await start()]
      for (let n = 0; n < uploads; n++) await storm(urls, `file-${n}`)
    })

    it('never count as stored at one of several workers, and keep their bytes', async () => {
      const urls = [await start('--workers', '3')]
      for (let n = 0; n < uploads; n++) await storm(urls, `file-${n}`)
    })
  })
})
