import { AbortMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { startAlteringProxy, type Alterations } from '../inspect/start-altering-proxy.ts'
import { openServerKnown } from '../open-server-known.ts'
import { append, begin, expectPublished, uploadsOf, whole } from '../resumable/pieces.ts'
import { bytesOf, contentOf, expectOneOf, key, MiB } from './blobs.ts'
import { failureOf } from './faulty-store.ts'

const conflict =
  '<?xml version="1.0" encoding="UTF-8"?><Error><Code>ConditionalRequestConflict</Code><Message>A conflicting operation</Message></Error>'

/** Answers requests whose condition is that there is no object as S3 does while another request for the object is under way. */
function createConflicts() {
  let left = 0
  /** Called before a conflict is answered. */
  let meanwhile = async () => {}
  const answer: Alterations['answer'] = ({ headers }, response) => {
    if (headers['if-none-match'] !== '*' || left === 0) return false
    left--
    void meanwhile().then(() => {
      response.writeHead(409, { 'content-type': 'application/xml' }).end(conflict)
    })
    return true
  }
  return {
    answer,
    begin(times: number, work = async () => {}) {
      left = times
      meanwhile = work
    },
    left: () => left,
  }
}

describeWithMinio(
  'openMinioBlobStore, where S3 refuses a request as in conflict with another',
  (minio) => {
    async function open() {
      const { accessKey, secretKey, region, endpoint: target } = minio()
      const bucket = await minio().createBucket()
      const conflicts = createConflicts()
      const proxy = await startAlteringProxy(target, { answer: conflicts.answer })
      const { endpoint } = proxy
      const store = await openServerKnown(
        { endpoint, bucket, accessKey, secretKey, region },
        target,
      )
      const close = async () => {
        await store.close()
        await proxy[Symbol.asyncDispose]()
      }
      return { store, conflicts, bucket, [Symbol.asyncDispose]: close }
    }
    const theirs = bytesOf(1000, 4)

    for (const [size, bytes] of [
      ['small', bytesOf(1000, 2)],
      ['large', bytesOf(9 * MiB, 3)],
    ] as const) {
      const put = ({ store }: Awaited<ReturnType<typeof open>>) =>
        store.put(key, contentOf(bytes), { createOnly: true })

      it(`repeats a create-only put of a ${size} blob until there is no conflict`, async () => {
        await using opened = await open()
        opened.conflicts.begin(1)
        await put(opened)
        expect(opened.conflicts.left()).to.equal(0)
        await expectOneOf(opened.store, bytes)
      })

      it(`refuses a create-only put of a ${size} blob where the other one has made a blob`, async () => {
        await using opened = await open()
        opened.conflicts.begin(1, async () => void (await opened.store.put(key, contentOf(theirs))))
        expect(await failureOf(put(opened), 'put')).to.have.property('code', 'already-exists')
        await expectOneOf(opened.store, theirs)
      })

      it(`calls the store unavailable for a put of a ${size} blob where the conflict does not end`, async () => {
        await using opened = await open()
        opened.conflicts.begin(100)
        expect(await failureOf(put(opened), 'put')).to.have.property('code', 'store-unavailable')
      })
    }

    it('publishes an upload in pieces anew where S3 has given up the earlier publication', async () => {
      await using opened = await open()
      const { store, conflicts, bucket } = opened
      const upload = await begin(store, true)
      await append(store, upload, 0, whole.length)
      conflicts.begin(1, async () => {
        const { Uploads = [] } = await minio().client.send(
          new ListMultipartUploadsCommand({
            Bucket: bucket,
            Prefix: `${key.customer}/${key.name}`,
          }),
        )
        for (const { Key, UploadId } of Uploads) {
          const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })
          await minio().client.send(command)
        }
      })
      await uploadsOf(store).publish(upload)
      await expectPublished(store, minio(), bucket)
    })

    it('publishes an upload in pieces once there is no conflict', async () => {
      await using opened = await open()
      const { store, conflicts, bucket } = opened
      const upload = await begin(store, true)
      await append(store, upload, 0, whole.length)
      conflicts.begin(1)
      await uploadsOf(store).publish(upload)
      expect(conflicts.left()).to.equal(0)
      await expectPublished(store, minio(), bucket)
    })
  },
)
