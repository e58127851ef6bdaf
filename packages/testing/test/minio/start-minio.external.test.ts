import { get } from 'node:https'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { getContainerRuntimeClient } from 'testcontainers'
import { describeWithContainers } from '../../src/minio/describe-with-minio.ts'
import { startMinio, type OwnMinio } from '../../src/minio/start-minio.ts'
import { refuses } from './refuses.ts'

describeWithContainers('startMinio', (suite) => {
  suite.timeout(120_000)
  let minio: OwnMinio

  beforeEach(async () => {
    minio = await startMinio()
  })

  afterEach(() => minio.stop())

  it('starts a server that this machine reaches, and no other', async () => {
    const { port } = new URL(minio.endpoint)
    expect(await refuses('127.0.0.1', Number(port))).to.equal(false)
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    const outer = addresses.filter(({ internal, family }) => !internal && family === 'IPv4')
    expect(outer).to.not.be.empty
    for (const { address } of outer)
      expect(await refuses(address, Number(port)), address).to.be.true
  })

  it('publishes nothing but that port of 127.0.0.1', async () => {
    const engine = await getContainerRuntimeClient()
    const { NetworkSettings } = await engine.container.getById(minio.containerId).inspect()
    const { port } = new URL(minio.endpoint)
    expect(NetworkSettings.Ports).to.deep.equal({
      '9000/tcp': [{ HostIp: '127.0.0.1', HostPort: port }],
    })
  })

  it('keeps its endpoint and its data when it is killed and started again', async () => {
    const { client, endpoint } = minio
    const place = { Bucket: await minio.createBucket(), Key: 'hello.txt' }
    await client.send(new PutObjectCommand({ ...place, Body: 'Hello' }))
    await minio.kill()
    expect(await refuses('127.0.0.1', Number(new URL(endpoint).port))).to.equal(true)
    await minio.start()
    const { Body } = await client.send(new GetObjectCommand(place))
    expect(await Body?.transformToString()).to.equal('Hello')
  })

  it('answers nothing while it is paused, and again afterwards', async () => {
    const live = `${minio.endpoint}/minio/health/live`
    await minio.pause()
    const answer = fetch(live, { signal: AbortSignal.timeout(500) })
    expect(await answer.catch((error: unknown) => error)).to.have.property('name', 'TimeoutError')
    await minio.unpause()
    expect(await fetch(live)).to.have.property('status', 200)
  })

  it('stops from every state, and more than once', async () => {
    for (const state of ['paused', 'killed']) {
      const another = await startMinio()
      await (state === 'paused' ? another.pause() : another.kill())
      await another.stop()
      await another.stop()
      expect(await refuses('127.0.0.1', Number(new URL(another.endpoint).port))).to.equal(true)
    }
  })

  it('serves HTTPS with a certificate that clients can check', async () => {
    const secure = await startMinio({ tls: true })
    try {
      expect(secure.endpoint).to.match(/^https:/)
      await secure.createBucket()
      const request = get(`${secure.endpoint}/minio/health/live`)
      const [error] = (await once(request, 'error').catch((thrown: unknown) => [
        thrown,
      ])) as unknown[]
      expect(error).to.have.property('code', 'DEPTH_ZERO_SELF_SIGNED_CERT')
    } finally {
      await secure.stop()
    }
  })
})
