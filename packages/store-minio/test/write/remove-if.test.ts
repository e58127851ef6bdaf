import { DeleteObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { expect } from 'chai'
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
})
