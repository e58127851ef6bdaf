import { ListBucketsCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { describeWithMinio } from '../../src/minio/describe-with-minio.ts'

const endpoints: string[] = []
let duringDeclaration: unknown

describeWithMinio('describeWithMinio', (minio) => {
  try {
    minio()
  } catch (error) {
    duringDeclaration = error
  }

  it('gives the server during the tests only', () => {
    expect(duringDeclaration).to.be.an('error').with.property('message').that.includes('declared')
  })

  it('gives a MinIO that answers on this machine only', async () => {
    const { endpoint, client } = minio()
    expect(endpoint).to.match(/^http:\/\/127\.0\.0\.1:\d+$/)
    await client.send(new ListBucketsCommand())
    endpoints.push(endpoint)
  })

  it('makes a new bucket each time', async () => {
    const names = [await minio().createBucket(), await minio().createBucket()]
    expect(new Set(names).size).to.equal(2)
    const { Buckets = [] } = await minio().client.send(new ListBucketsCommand())
    expect(Buckets.map(({ Name }) => Name)).to.include.members(names)
  })
})

describeWithMinio('describeWithMinio, a second time', (minio) => {
  it('gives the same server', () => {
    expect(endpoints).to.deep.equal([minio().endpoint])
  })
})
