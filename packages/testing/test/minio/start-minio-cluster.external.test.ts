import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { describeWithContainers } from '../../src/minio/describe-with-minio.ts'
import { startMinioCluster, type MinioCluster } from '../../src/minio/start-minio.ts'

describeWithContainers('startMinioCluster', (suite) => {
  suite.timeout(180_000)
  let cluster: MinioCluster

  before(async () => {
    cluster = await startMinioCluster()
  })

  after(() => cluster.stop())

  it('starts four nodes that serve the same objects', async () => {
    expect(cluster.nodes).to.have.length(4)
    const [first] = cluster.nodes
    const place = { Bucket: await first!.createBucket(), Key: 'hello.txt' }
    await first!.client.send(new PutObjectCommand({ ...place, Body: 'Hello' }))
    for (const { client } of cluster.nodes) {
      const { Body } = await client.send(new GetObjectCommand(place))
      expect(await Body?.transformToString()).to.equal('Hello')
    }
  })

  it('takes writes while one node is down, and is whole again when it is back', async () => {
    const [first, second, third] = cluster.nodes
    const place = { Bucket: await first!.createBucket(), Key: 'hello.txt' }
    await third!.kill()
    expect(await canLeave(second!.endpoint)).to.equal(false)
    await first!.client.send(new PutObjectCommand({ ...place, Body: 'Hello' }))
    await third!.start()
    await cluster.untilWhole()
    expect(await canLeave(second!.endpoint)).to.equal(true)
    const { Body } = await third!.client.send(new GetObjectCommand(place))
    expect(await Body?.transformToString()).to.equal('Hello')
  })
})

/** Whether a cluster that is asked at `endpoint` says that this node may go, which needs all the others. */
async function canLeave(endpoint: string): Promise<boolean> {
  return (await fetch(`${endpoint}/minio/health/cluster?maintenance=true`)).ok
}
