import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { openMinioBlobStore } from '../src/minio-blob-store.ts'

const MiB = 1024 * 1024

/** A proxy that passes requests on as they are, and answers in chunks, without a length. */
async function startChunkingProxy(endpoint: string) {
  const server = createServer((incoming, answer) => {
    const { method, url, headers } = incoming
    const outgoing = request(new URL(url ?? '/', endpoint), { method, headers }, (found) => {
      const { 'content-length': length, ...rest } = found.headers
      // The answer to HEAD has no body, so its length is no length of chunks.
      answer.writeHead(found.statusCode ?? 500, method === 'HEAD' ? found.headers : rest)
      if (length !== undefined && method !== 'HEAD') answer.flushHeaders()
      found.pipe(answer)
    })
    incoming.pipe(outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describeWithMinio('openMinioBlobStore behind a proxy that tells no lengths', (minio) => {
  it('fails a download rather than trust that its end is the end', async () => {
    const { accessKey, secretKey } = minio()
    const bucket = await minio().createBucket()
    const proxy = await startChunkingProxy(minio().endpoint)
    const store = await openMinioBlobStore({
      endpoint: proxy.endpoint,
      bucket,
      accessKey,
      secretKey,
    })
    try {
      const key = { customer: 'alice', name: 'a' }
      await store.put(
        key,
        (async function* () {
          yield Buffer.alloc(MiB, 'x')
        })(),
      )
      expect((await store.stat(key))?.size).to.equal(MiB)
      expect(await store.open({ ...key, name: 'missing' })).to.equal(undefined)
      const failure = await store.open(key).catch((error: unknown) => error)
      expect(failure).to.have.property('code', 'store-unavailable')
      expect(await store.delete(key)).to.equal(true)
    } finally {
      await store.close()
      await proxy.close()
    }
  })
})
