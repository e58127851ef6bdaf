import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import type { ObjectRead } from '../../src/read/get-object.ts'
import { sureOfAbsence } from '../../src/read/stat-object.ts'

describeWithMinio('sureOfAbsence', (minio) => {
  async function prepare(...keys: string[]) {
    const Bucket = await minio().createBucket()
    const { client: s3 } = minio()
    for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))
    const object = { s3, bucket: Bucket, key: 'alice/a', name: 'a' } as ObjectRead
    let asked = 0
    return {
      asked: () => asked,
      remove: () => s3.send(new DeleteObjectCommand({ Bucket, Key: 'alice/a' })),
      /** What is found by a node that knows of the object only from the given question on. */
      find: (knownFrom: number) =>
        sureOfAbsence(object, async () => (++asked >= knownFrom ? 'found' : undefined)),
    }
  }

  it('believes at once what finds', async () => {
    const { find, asked } = await prepare()
    expect(await find(1)).to.equal('found')
    expect(asked()).to.equal(1)
  })

  it('believes that there is nothing when nothing is listed', async () => {
    const { find, asked } = await prepare('alice/a2', 'alice/a/deeper', 'alice/A', 'a')
    expect(await find(Infinity)).to.equal(undefined)
    expect(asked()).to.equal(1)
  })

  it('asks again for what is listed', async () => {
    const { find, asked } = await prepare('alice/a')
    expect(await find(3)).to.equal('found')
    expect(asked()).to.equal(3)
  })

  it('says store-unavailable rather than that a listed object is not there', async () => {
    const { find } = await prepare('alice/a')
    const error = await find(Infinity).catch((reason: unknown) => reason)
    expect(error).to.have.property('code', 'store-unavailable')
  })

  it('believes that there is nothing once it is not listed any more', async () => {
    const { find, remove } = await prepare('alice/a')
    const [found] = await Promise.all([find(Infinity), remove()])
    expect(found).to.equal(undefined)
  })
})
