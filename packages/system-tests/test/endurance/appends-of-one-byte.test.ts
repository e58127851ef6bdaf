import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { credentials, type HoldfastServer, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

interface ByBytes {
  readonly url: string
  readonly appends: number
  /** What the store holds. */
  readonly find: () => Promise<readonly string[]>
}

/** Uploads a file by tus, a byte at a time; resolves to how many things the store held at the most. */
async function uploadByBytes({ url, appends, find }: ByBytes): Promise<number> {
  const text = Array.from({ length: appends }, (_, index) => String(index % 10)).join('')
  const send = (method: string, place: string, headers: Record<string, string>, body?: string) =>
    fetch(new URL(place, url), {
      method,
      headers: { ...credentials, 'Tus-Resumable': '1.0.0', ...headers },
      ...(body !== undefined && { body }),
    })
  const begun = await send('POST', '/resumable', {
    'Upload-Length': String(appends),
    'Upload-Metadata': `filename ${Buffer.from('bytes').toString('base64')}`,
  })
  const place = begun.headers.get('location') ?? ''
  let most = 0
  for (let offset = 0; offset < appends; offset++) {
    const headers = {
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(offset),
    }
    const { status } = await send('PATCH', `/${place}`, headers, text[offset])
    expect(status, `offset ${offset}`).to.equal(204)
    if (offset % 50 === 0) most = Math.max(most, (await find()).length)
  }
  const served = await fetch(`${url}/serve/bytes`, { headers: credentials })
  expect(await served.text()).to.equal(text)
  return most
}

describe('holdfast serve, with an upload that comes a byte at a time', function () {
  this.timeout(300_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer | undefined

  it('keeps two files for it, however many bytes there are', async () => {
    server = await holdfast.start([])
    const find = async () => {
      const entries = await readdir(join(site.path, 'data/uploads'), {
        recursive: true,
        withFileTypes: true,
      })
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    }
    expect(await uploadByBytes({ url: server.url, appends: 1000, find })).to.equal(2)
    expect(await find()).to.deep.equal(['published.json'])
  })

  describeWithMinio('in a bucket', (minio) => {
    it('keeps a record and the bytes so far, however many there are', async () => {
      const bucket = await minio().createBucket()
      server = await holdfast.start([], { env: minioEnvironment(minio(), bucket) })
      const find = async () => {
        const list = new ListObjectsV2Command({ Bucket: bucket })
        const { Contents: objects = [] } = await minio().client.send(list)
        return objects.map(({ Key: key = '' }) => key)
      }
      expect(await uploadByBytes({ url: server.url, appends: 250, find })).to.equal(2)
      const left = await find()
      expect(left, 'the file, and what is known of the upload').to.have.length(2)
      expect(left[0]).to.equal('demo/bytes')
    })
  })
})
