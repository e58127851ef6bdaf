import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { describeWithContainers, describeWithMinio, startMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { StoreSettingError } from '../src/http/s3-errors.ts'
import { openMinioBlobStore, type MinioBlobStoreOptions } from '../src/minio-blob-store.ts'
import { inTime } from './faults/faulty-store.ts'

const defaults: MinioBlobStoreOptions = {
  endpoint: 'http://127.0.0.1:9',
  bucket: 'files',
  accessKey: 'holdfast-tests',
  secretKey: 'correct-horse-battery-staple',
  connectTimeoutMs: 1000,
  idleTimeoutMs: 500,
}

/** What opening is refused with. */
async function refusalOf(options: Partial<MinioBlobStoreOptions>): Promise<StoreSettingError> {
  const opening = openMinioBlobStore({ ...defaults, ...options })
  const outcome = await inTime(
    opening.catch((error: unknown) => error),
    'opening',
  )
  if (outcome instanceof StoreSettingError) return outcome
  throw new Error(`No StoreSettingError: ${String(outcome)}`)
}

const servers: Server[] = []

/** Where `server` listens on this machine, until the test is over. */
async function addressOf(server: Server): Promise<string> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const httpServer = (listener: RequestListener) => addressOf(createHttpServer(listener))

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

describeWithMinio('openMinioBlobStore, refused by MinIO', (minio) => {
  const refusal = async (options: Partial<MinioBlobStoreOptions>) => {
    const { endpoint, accessKey, secretKey, region } = minio()
    return refusalOf({ endpoint, accessKey, secretKey, region, ...options })
  }

  it('names an access key that the server does not know', async () => {
    const { setting, message } = await refusal({ accessKey: 'nobody' })
    expect(setting).to.equal('accessKey')
    expect(message).to.equal('the server does not know the access key')
  })

  it('names a secret key that does not belong to the access key', async () => {
    const { setting, message } = await refusal({ secretKey: 'wrong-wrong-wrong' })
    expect(setting).to.equal('secretKey')
    expect(message).to.equal('the secret key does not belong to the access key')
  })

  it('names a bucket that is not there, and makes it if set to', async () => {
    const bucket = `made-${randomUUID()}`
    const { setting, message } = await refusal({ bucket })
    expect(setting).to.equal('bucket')
    expect(message).to.equal(`there is no bucket "${bucket}"`)
    const { endpoint, accessKey, secretKey, region } = minio()
    const options = { endpoint, accessKey, secretKey, region, bucket, createBucket: true }
    const both = await Promise.all([openMinioBlobStore(options), openMinioBlobStore(options)])
    for (const store of both) {
      expect(await store.usage('alice')).to.deep.equal({ blobs: 0, bytes: 0 })
      await store.close()
    }
  })

  for (const bucket of ['No Bucket', 'A', 'a/b', '', '..']) {
    it(`names a bucket that cannot be one: ${JSON.stringify(bucket)}`, async () => {
      const { setting, message } = await refusal({ bucket, createBucket: true })
      expect(setting, message).to.equal('bucket')
    })
  }

  it('names a region that is not the server’s', async () => {
    const { setting, message } = await refusal({
      bucket: await minio().createBucket(),
      region: 'eu-central-1',
    })
    expect(setting, message).to.equal('region')
    expect(message).to.include('"eu-central-1"')
  })

  for (const prefix of ['/', 'a', 'a//', '../', 'a/./', `${'x'.repeat(256)}/`]) {
    it(`names a prefix that keys cannot begin with: ${JSON.stringify(prefix.slice(0, 9))}`, async () => {
      expect((await refusal({ prefix })).setting).to.equal('prefix')
    })
  }

  it('names the endpoint that does not speak TLS', async () => {
    const endpoint = minio().endpoint.replace('http:', 'https:')
    const { setting, message } = await refusal({ endpoint })
    expect(setting).to.equal('endpoint')
    expect(message).to.equal(`${endpoint} does not speak TLS; is it http://?`)
  })
})

describe('openMinioBlobStore, without an S3 server', () => {
  it('names an endpoint where nothing listens', async () => {
    const server = createServer()
    const endpoint = `http://${await addressOf(server)}`
    await once(server.close(), 'close')
    const { setting, message } = await refusalOf({ endpoint })
    expect([setting, message]).to.deep.equal(['endpoint', `nothing listens at ${endpoint}`])
  })

  it('names an endpoint whose host is not known', async () => {
    const { setting, message } = await refusalOf({ endpoint: 'http://no-such-host.invalid:9000' })
    expect(setting).to.equal('endpoint')
    expect(message).to.match(/^the host of .* (is not known|cannot be looked up now)$/)
  })

  for (const endpoint of ['127.0.0.1:9000', 'ftp://127.0.0.1', '', 'http://user:pass@127.0.0.1']) {
    it(`names an endpoint that is no address: ${JSON.stringify(endpoint)}`, async () => {
      expect((await refusalOf({ endpoint })).setting).to.equal('endpoint')
    })
  }

  it('names an endpoint that accepts and says nothing', async () => {
    const endpoint = `http://${await addressOf(createServer(() => {}).unref())}`
    const { setting, message } = await refusalOf({ endpoint })
    expect([setting, message]).to.deep.equal(['endpoint', `${endpoint} does not answer`])
  })

  it('names an endpoint that accepts and never does the TLS handshake', async () => {
    const endpoint = `https://${await addressOf(createServer(() => {}).unref())}`
    const { setting, message } = await refusalOf({ endpoint })
    expect([setting, message]).to.deep.equal(['endpoint', `${endpoint} does not answer`])
  })

  for (const [what, status, body] of [
    ['a web page', 200, '<!doctype html><html><body><p>Welcome<br>here</body></html>'],
    ['a well-formed web page', 200, '<html><body><p>Welcome</p></body></html>'],
    ['an empty answer', 200, ''],
    ['a missing page', 404, '<html><body>Not Found</body></html>'],
    ['JSON', 200, '{"ok":true}'],
    ['a failure', 500, 'oops'],
  ] as const) {
    it(`names an endpoint that is no S3 server: ${what}`, async () => {
      const endpoint = `http://${await httpServer((_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end(body)
      })}`
      const { setting, message } = await refusalOf({ endpoint })
      expect(setting).to.equal('endpoint')
      expect(message).to.match(/ does not answer as an S3 server /)
    })
  }
})

describeWithContainers('openMinioBlobStore, over TLS', () => {
  it('names an endpoint that speaks TLS only, and a certificate without a known authority', async function () {
    this.timeout(60_000)
    const minio = await startMinio({ tls: true })
    const { endpoint } = minio
    try {
      const untrusted = await refusalOf({ endpoint })
      expect(untrusted.setting).to.equal('endpoint')
      expect(untrusted.message).to.match(/certificate .* is not trusted .*NODE_EXTRA_CA_CERTS$/)
      const plain = await refusalOf({ endpoint: endpoint.replace('https:', 'http:') })
      expect(plain.setting).to.equal('endpoint')
      expect(plain.message, plain.message).to.match(
        / does not answer as an S3 server .*; is it https:\/\/\?$/,
      )
    } finally {
      await minio.stop()
    }
  })
})
