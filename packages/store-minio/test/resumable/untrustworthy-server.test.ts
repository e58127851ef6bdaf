import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { inspectBucket } from '../../src/inspect/inspect-bucket.ts'
import { openMinioBlobStore } from '../../src/minio-blob-store.ts'
import { startAlteringProxy, type Alterations } from '../inspect/start-altering-proxy.ts'

const servers: Readonly<Record<string, readonly [problem: string, Alterations['answer']]>> = {
  'ignores If-Match': [
    'ignores If-Match',
    ({ headers }, response) => {
      if (headers['if-match'] === undefined) return false
      response.writeHead(200, { etag: '"x"' }).end()
      return true
    },
  ],
  'does not take If-Match': [
    'does not take If-Match',
    ({ headers }, response) => {
      if (headers['if-match'] === undefined) return false
      response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>')
      return true
    },
  ],
  'never finds the object the same': [
    'lets 0 of 4 writes with the same If-Match succeed',
    ({ headers }, response) => {
      if (headers['if-match'] === undefined) return false
      response.writeHead(412).end()
      return true
    },
  ],
  'looks and writes in two steps': [
    'lets 4 of 4 writes with the same If-Match succeed',
    ({ headers }, response) => {
      const tag = headers['if-match'] ?? ''
      if (tag === '' || /^"0+"$/.test(tag)) return false
      response.writeHead(200, { etag: '"x"' }).end()
      return true
    },
  ],
}

describeWithMinio('openMinioBlobStore on a server without a trustworthy If-Match', (minio) => {
  for (const [what, [problem, answer]] of Object.entries(servers)) {
    it(`keeps no uploads in pieces, and says why: the server ${what}`, async () => {
      const bucket = await minio().createBucket()
      await using proxy = await startAlteringProxy(minio().endpoint, { ...(answer && { answer }) })
      const { accessKey, secretKey } = minio()
      const connection = { endpoint: proxy.endpoint, bucket, accessKey, secretKey }
      const warnings: string[] = []
      const log = { warn: (message: string) => void warnings.push(message) }
      const store = await openMinioBlobStore({ ...connection, log })
      expect(store.resumable).to.equal(undefined)
      await store.close()
      expect(warnings).to.deep.equal([
        `Uploads cannot be resumed: the S3 server ${problem}. holdfast doctor says what to do`,
      ])
      const faults: string[] = []
      for await (const { check, mark, message, remedies } of inspectBucket(connection)) {
        if (mark !== 'ok') faults.push([check, mark, message, ...remedies].join('; '))
      }
      // An inspection has more writers than the start of a store.
      const inspected = problem.replaceAll('4', '32')
      expect(faults).to.deep.equal([
        `resuming uploads; warning; the server ${inspected}; uploads that break off cannot be resumed, and start again; Use a server that honours If-Match on PutObject, as MinIO does.`,
      ])
    })
  }

  it('keeps uploads in pieces where the answer to the first write that succeeds is lost', async () => {
    const bucket = await minio().createBucket()
    let refused = 0
    await using proxy = await startAlteringProxy(minio().endpoint, {
      answer({ headers }, response) {
        const tag = headers['if-match'] ?? ''
        // The client sends what has no answer again, and then the object is another one.
        if (tag === '' || /^"0+"$/.test(tag) || refused === 4) return false
        refused++
        response.writeHead(412).end()
        return true
      },
    })
    const { accessKey, secretKey } = minio()
    const store = await openMinioBlobStore({
      endpoint: proxy.endpoint,
      bucket,
      accessKey,
      secretKey,
    })
    expect(refused).to.equal(4)
    expect(store.resumable).not.to.equal(undefined)
    await store.close()
  })
})
