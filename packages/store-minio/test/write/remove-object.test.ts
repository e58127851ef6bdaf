import { DeleteObjectCommand, ListObjectsV2Command, NoSuchKey, S3Client } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { createKeyTurns, createObjectRemover, createRemovals } from '../../src/write/removals.ts'

describe('createObjectRemover', () => {
  it('has removed what others have removed at the same moment, where a server calls that an error', async () => {
    let isThere = true
    const s3 = new S3Client({ region: 'none' })
    const missing = () =>
      new NoSuchKey({ message: 'It is gone', $metadata: { httpStatusCode: 404 } })
    Object.assign(s3, {
      async send(command: unknown) {
        if (command instanceof ListObjectsV2Command) return { Name: 'b' }
        if (!isThere) throw missing()
        if (!(command instanceof DeleteObjectCommand)) return { ETag: '"a"' }
        isThere = false
        throw missing()
      },
    })
    const remove = createObjectRemover(s3, createRemovals(), createKeyTurns())
    expect(await remove({ s3, bucket: 'b', key: 'k' })).to.equal(true)
    expect(await remove({ s3, bucket: 'b', key: 'k' })).to.equal(false)
  })
})
