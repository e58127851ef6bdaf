import { hash } from 'node:crypto'
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openMinioBlobStore } from '../src/minio-blob-store.ts'

async function* text(content: string) {
  yield Buffer.from(content)
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

describeWithMinio('openMinioBlobStore, in a bucket that an administrator looks into', (minio) => {
  async function open(prefix = '') {
    const { endpoint, accessKey, secretKey, client } = minio()
    const bucket = await minio().createBucket()
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket, prefix })
    return {
      store,
      put: (key: string, body = 'x') =>
        client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body })),
      read: async (key: string) => {
        const found = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
        return found.Body?.transformToString()
      },
      etag: async (key: string) =>
        (await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }))).ETag,
      [Symbol.asyncDispose]: () => store.close(),
    }
  }

  it('keeps each file as one object with a readable key and the entity tag of the server', async () => {
    await using bucket = await open('team/')
    const key = { customer: 'zoë', name: 'Büro 100%.txt' }
    const { etag } = await bucket.store.put(key, text('content'))
    expect(await bucket.read('team/zoë/Büro 100%.txt')).to.equal('content')
    expect(await bucket.etag('team/zoë/Büro 100%.txt')).to.equal(`"${etag}"`)
  })

  it('takes an object that was put there by hand for a file', async () => {
    await using bucket = await open()
    await bucket.put('alice/by hand', 'content')
    expect((await bucket.store.stat({ customer: 'alice', name: 'by hand' }))?.size).to.equal(7)
    expect((await collect(bucket.store.list('alice'))).flat()).to.deep.equal(['by hand'])
    expect(await bucket.store.delete({ customer: 'alice', name: 'by hand' })).to.equal(true)
  })

  it('does not take an emptied generation of links for the first one, which has all links good again', async () => {
    await using bucket = await open('team/')
    const generations = bucket.store.linkGenerations
    await generations?.renew('alice')
    const key = `team/\u007flinks/${hash('sha256', 'alice')}`
    expect(await bucket.read(key)).to.match(/^[0-9a-f]{32}$/)
    await bucket.put(key, '')
    const refusal = await generations?.read('alice').catch((error: unknown) => error)
    expect(refusal)
      .to.be.an('error')
      .with.property('message', `The object ${key} is damaged: end the links again`)
    await generations?.renew('alice')
    expect(await generations?.read('alice')).to.match(/^[0-9a-f]{32}$/)
  })

  it('passes over folders, deeper keys, keys of no name and what is outside the prefix', async () => {
    await using bucket = await open('team/')
    await bucket.store.put({ customer: 'alice', name: 'b' }, text('x'))
    for (const key of [
      ...['top', 'alice/outside', 'team/file', 'team/alice/a/deeper', 'team/alice/folder/'],
      ...['team/alice/\u0002', 'team/alice/\u0001/unneeded', 'team/\u0001/bob/x', 'team/c\u0002/x'],
    ]) {
      await bucket.put(key)
    }
    expect((await collect(bucket.store.list('alice'))).flat()).to.deep.equal(['b'])
    expect(await bucket.store.usage('alice')).to.deep.equal({ blobs: 1, bytes: 1 })
    expect(await collect(bucket.store.customers())).to.deep.equal(['alice'])
  })

  it('lists on when a whole page is made of folders', async () => {
    await using bucket = await open()
    const folders = Array.from({ length: 1050 }, (_, index) => `alice/${1000 + index}/deeper`)
    for (let at = 0; at < folders.length; at += 50) {
      await Promise.all(folders.slice(at, at + 50).map((key) => bucket.put(key)))
    }
    await bucket.store.put({ customer: 'alice', name: 'z' }, text('x'))
    expect((await collect(bucket.store.list('alice'))).flat()).to.deep.equal(['z'])
    expect((await collect(bucket.store.list('alice', { limit: 1 }))).flat()).to.deep.equal(['z'])
  })
})
