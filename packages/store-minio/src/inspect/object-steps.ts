import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { finding, type Finding } from '@holdfast/core'
import { failureOf } from '../errors/s3-errors.ts'
import type { BucketStep } from './bucket-step.ts'
import type { TrialObjects } from '../bucket/trial-objects.ts'

const content = 'holdfast'

const put = ({ bucket, key }: TrialObjects, body: string, createOnly = false) =>
  new PutObjectCommand({
    Bucket: bucket,
    Key: key,
    Body: body,
    ContentLength: body.length,
    ...(createOnly && { IfNoneMatch: '*' }),
  })

const uploading: BucketStep = {
  check: 'uploading',
  right: 's3:PutObject',
  async run(trial) {
    const begin = performance.now()
    const { VersionId } = await trial.s3.send(put(trial, content))
    trial.made(trial.key, VersionId)
    const milliseconds = (performance.now() - begin).toFixed(0)
    return finding('ok', this.check, `works; a small file took ${milliseconds} ms`)
  },
}

const createOnly: BucketStep = {
  check: 'create-only',
  right: 's3:PutObject',
  needs: [uploading.check],
  run: (trial) =>
    judgeCondition(createOnly.check, async () => {
      const { VersionId } = await trial.s3.send(put(trial, content, true))
      trial.made(trial.key, VersionId)
    }),
}

const downloading: BucketStep = {
  check: 'downloading',
  right: 's3:GetObject',
  needs: [uploading.check],
  async run({ s3, bucket, key }) {
    const place = { Bucket: bucket, Key: key }
    const { ContentLength: size } = await s3.send(new HeadObjectCommand(place))
    const text = await (await s3.send(new GetObjectCommand(place))).Body?.transformToString()
    if (text === content && size === content.length) return finding('ok', this.check, 'works')
    return damaged(this.check, `"${content}" came back as "${text ?? ''}", ${size ?? 0} bytes`)
  },
}

const ranges: BucketStep = {
  check: 'ranges',
  right: 's3:GetObject',
  needs: [downloading.check],
  async run({ s3, bucket, key }) {
    const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=2-4' })
    const text = await (await s3.send(command)).Body?.transformToString()
    if (text === content.slice(2, 5)) return finding('ok', this.check, 'parts of a file are read')
    return damaged(this.check, 'asked for a part of a file, the server gives something else')
  },
}

const listing: BucketStep = {
  check: 'listing',
  right: 's3:ListBucket',
  async run({ s3, bucket, key }) {
    const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: key, MaxKeys: 2 })
    const { Contents: found = [] } = await s3.send(command)
    const message = found.length > 0 ? 'has what was just uploaded' : 'works'
    return finding('ok', this.check, message)
  },
}

function damaged(check: string, message: string): Finding {
  const remedy = 'Use another S3 server, or see what a proxy in between does to its answers.'
  return finding('problem', check, message, remedy)
}

/** What a store does with an object that comes and goes whole. */
export const objectSteps: readonly BucketStep[] = [
  uploading,
  createOnly,
  downloading,
  ranges,
  listing,
]

/** The last of all. */
export const deleting: BucketStep = {
  check: 'deleting',
  right: 's3:DeleteObject',
  needs: [uploading.check],
  async run({ s3, bucket, key, made }) {
    const place = { Bucket: bucket, Key: key }
    const { VersionId } = await s3.send(new DeleteObjectCommand(place))
    made(key, VersionId)
    const isGone = await s3.send(new HeadObjectCommand(place)).then(
      () => false,
      (error: unknown) => [403, 404].includes(failureOf(error).status),
    )
    if (isGone) return finding('ok', this.check, 'works')
    return finding('problem', this.check, `${key} is still there`, `mc rm minio/${bucket}/${key}`)
  },
}

/**
 * Whether a server keeps what is there from being replaced: `write` asks for that by `If-None-Match: *`, and must fail
 * for that reason.
 */
export async function judgeCondition(check: string, write: () => Promise<void>): Promise<Finding> {
  const failure = await write().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  const remedy =
    'Use a server that honours If-None-Match on PutObject and CompleteMultipartUpload, as MinIO does.'
  if (!failure) {
    const message = 'the server ignores If-None-Match; create-only uploads would replace files'
    return finding('problem', check, message, remedy)
  }
  const { status } = failureOf(failure.error)
  if (status === 412 || status === 409) return finding('ok', check, 'keeps the file that is there')
  if (status !== 501 && status !== 400) throw failure.error
  const message = `the server does not take If-None-Match (${status}); create-only uploads fail`
  return finding('problem', check, message, remedy)
}
