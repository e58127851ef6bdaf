import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DeleteObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { createStoreClient } from '../../src/http/s3-client.ts'
import { createRemovals, removeIf } from '../../src/write/removals.ts'

/** A server with one object of the entity tag `"old"`, which another server replaces right before the first removal if `isReplaced`. */
function serve({ isReplaced = false, takesConditions = true }) {
  let etag: string | undefined = '"old"'
  const conditions: (string | undefined)[] = []
  const s3 = new S3Client({ region: 'none' })
  const refuse = (name: string, httpStatusCode: number) =>
    new S3ServiceException({ name, $fault: 'client', $metadata: { httpStatusCode } })
  Object.assign(s3, {
    async send(command: unknown) {
      if (!(command instanceof DeleteObjectCommand)) return { ETag: etag }
      const { IfMatch } = command.input
      conditions.push(IfMatch)
      if (isReplaced) etag = '"new"'
      if (IfMatch !== undefined && !takesConditions) throw refuse('NotImplemented', 501)
      if (IfMatch !== undefined && IfMatch !== etag) throw refuse('PreconditionFailed', 412)
      etag = undefined
      return {}
    },
  })
  const objectRef = { s3, bucket: 'b', key: 'k' }
  return {
    conditions,
    etag: () => etag,
    remove: () =>
      removeIf(objectRef, ({ etag: found }) => found === '"old"', {
        changing: s3,
        removals: createRemovals(),
      }),
  }
}

describe('removeIf', () => {
  it('removes the object that is wanted', async () => {
    const { remove, etag, conditions } = serve({})
    expect(await remove()).to.equal(true)
    expect(etag()).to.equal(undefined)
    expect(conditions).to.deep.equal(['"old"'])
  })

  it('spares what another server puts there between the look and the removal', async () => {
    const { remove, etag } = serve({ isReplaced: true })
    expect(await remove()).to.equal(false)
    expect(etag()).to.equal('"new"')
  })

  it('asks nothing of a server that says it knows no condition', async () => {
    const { remove, etag, conditions } = serve({ takesConditions: false })
    expect(await remove()).to.equal(true)
    expect(etag()).to.equal(undefined)
    expect(conditions).to.deep.equal(['"old"', undefined])
  })

  it('looks again before it repeats what the server has refused for now, since not every server takes the condition', async () => {
    let etag: string | undefined = '"old"'
    let refusals = 0
    // A server that is busy at first, and passes over conditions, as MinIO does. Another server replaces the object meanwhile.
    const busy = createServer(({ method }, response) => {
      if (method === 'DELETE' && refusals++ === 0) {
        etag = '"new"'
        response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>x</Message></Error>')
      } else if (method === 'DELETE') {
        etag = undefined
        response.writeHead(204).end()
      } else response.writeHead(200, { ...(etag !== undefined && { ETag: etag }) }).end()
    })
    await once(busy.listen(0, '127.0.0.1'), 'listening')
    const client = createStoreClient({
      endpoint: `http://127.0.0.1:${(busy.address() as AddressInfo).port}`,
      ...{ accessKey: 'a', secretKey: 'secret-key', region: 'none' },
      ...{ connectTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    })
    try {
      const removed = removeIf(
        { s3: client.s3, bucket: 'b', key: 'k' },
        ({ etag: found }) => found === '"old"',
        { changing: client.changing, removals: createRemovals() },
      )
      expect(await removed).to.equal(false)
      expect(etag).to.equal('"new"')
    } finally {
      client.close()
      busy.closeAllConnections()
      busy.close()
    }
  })
})
