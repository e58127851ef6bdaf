import { once } from 'node:events'
import {
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openMinioBlobStore, type MinioBlobStore } from '../../src/minio-blob-store.ts'
import { startAlteringProxy, type Alterations } from '../inspect/start-altering-proxy.ts'

describeWithMinio('MinioBlobStore.probe', (minio) => {
  let bucket: string
  let store: MinioBlobStore
  beforeEach(async () => {
    bucket = await minio().createBucket()
    store = await open({})
  })
  afterEach(() => store.close())

  const open = ({ endpoint, prefix = '' }: { endpoint?: string; prefix?: string }) => {
    const { accessKey, secretKey, region } = minio()
    const at = endpoint ?? minio().endpoint
    return openMinioBlobStore({ endpoint: at, accessKey, secretKey, region, bucket, prefix })
  }
  const keys = async () => {
    const list = new ListObjectsV2Command({ Bucket: bucket })
    return ((await minio().client.send(list)).Contents ?? []).map(({ Key }) => Key)
  }
  /** A store whose requests go through a proxy. */
  const openThrough = async (alterations: Alterations) => {
    const proxy = await startAlteringProxy(minio().endpoint, alterations)
    const altered = await open({ endpoint: proxy.endpoint })
    return {
      store: altered,
      async [Symbol.asyncDispose]() {
        await altered.close()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }
  const failureOf = async (probe: Promise<void>) =>
    probe.then(
      () => expect.fail('the probe succeeded'),
      (error: unknown) => error,
    )

  it('puts, gets and deletes an object, several times at once, and leaves nothing', async () => {
    await Promise.all(Array.from({ length: 4 }, () => store.probe()))
    expect(await keys()).to.deep.equal([])
  })

  it('leaves no version where the bucket keeps them', async () => {
    const { client } = minio()
    const VersioningConfiguration = { Status: 'Enabled' } as const
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
    await store.probe()
    const left = await client.send(new ListObjectVersionsCommand({ Bucket: bucket }))
    expect([...(left.Versions ?? []), ...(left.DeleteMarkers ?? [])]).to.deep.equal([])
  })

  it('is seen by no customer meanwhile', async () => {
    const seen: string[] = []
    await using through = await openThrough({
      answer({ method, url = '' }) {
        if (method === 'PUT') seen.push(url.split('/')[2]?.split('?')[0] ?? '')
        return false
      },
    })
    // What opening has tried.
    seen.length = 0
    await through.store.probe()
    expect(seen).to.have.length(1)
    expect(seen[0]).to.match(/^\.holdfast-trial-/)
    const [Key] = seen
    await minio().client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x' }))
    for await (const name of store.customers()) expect.fail(`there is a customer ${name}`)
    expect(await store.usage(Key ?? '')).to.deep.equal({ blobs: 0, bytes: 0 })
  })

  it('fails when something else comes back, and leaves nothing then', async () => {
    await using through = await openThrough({
      answer({ method, url = '' }, response) {
        const isProbe =
          method === 'GET' && url.includes('.holdfast-trial-') && !url.includes('?list')
        if (isProbe) response.end('holdfist')
        return isProbe
      },
    })
    expect(String(await failureOf(through.store.probe()))).to.include(
      'read other bytes than it wrote',
    )
  })

  it('fails when the server refuses', async () => {
    await using through = await openThrough({
      answer({ method }, response) {
        if (method !== 'DELETE') return false
        response.writeHead(403, { 'content-type': 'application/xml' })
        response.end('<Error><Code>AccessDenied</Code></Error>')
        return true
      },
    })
    expect(await failureOf(through.store.probe())).to.have.property('code', 'store-unavailable')
  })

  it('gives up when it is aborted, while the server says nothing', async () => {
    const asked = new EventTarget()
    let isSilent = false
    await using through = await openThrough({
      answer({ method }) {
        if (isSilent && method === 'PUT') asked.dispatchEvent(new Event('put'))
        return isSilent && method === 'PUT'
      },
    })
    isSilent = true
    const stop = new AbortController()
    const put = once(asked, 'put')
    const failure = failureOf(through.store.probe(stop.signal))
    await put
    stop.abort()
    expect(await failure).to.be.instanceOf(Error)
  })

  it('is cleared up after by the next store, where it was killed more than an hour ago', async () => {
    const deleted = Promise.withResolvers<string>()
    const list = `<ListBucketResult><Name>${bucket}</Name><IsTruncated>false</IsTruncated><Contents>
      <Key>p/.holdfast-trial-1</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>8</Size>
      </Contents></ListBucketResult>`
    await using proxy = await startAlteringProxy(minio().endpoint, {
      answer({ method, url = '' }, response) {
        if (method === 'DELETE' && url.includes('.holdfast-trial-1?')) deleted.resolve(url)
        const isSweep = decodeURIComponent(url).includes('prefix=p/.holdfast-trial-')
        if (isSweep) response.writeHead(200, { 'content-type': 'application/xml' }).end(list)
        return isSweep
      },
    })
    const next = await open({ endpoint: proxy.endpoint, prefix: 'p/' })
    expect(await deleted.promise).to.include('/p/.holdfast-trial-1')
    await next.close()
  })
})
