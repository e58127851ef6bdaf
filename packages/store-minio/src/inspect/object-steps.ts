import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { finding, type Finding, messageOf } from '@holdfast/core'
import type { TrialObjects } from '../bucket/trial-objects.ts'
import { failureOf } from '../http/s3-errors.ts'
import { listUploads } from '../list/list-objects.ts'

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
    const objectRef = { Bucket: bucket, Key: key }
    const { ContentLength: size } = await s3.send(new HeadObjectCommand(objectRef))
    const text = await (await s3.send(new GetObjectCommand(objectRef))).Body?.transformToString()
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
    return damaged(this.check, 'the server answers a request for a part of a file with other bytes')
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

/** The steps for an object that is written and read as a whole. */
export const objectSteps: readonly BucketStep[] = [
  uploading,
  createOnly,
  downloading,
  ranges,
  listing,
]

/** Runs after all other steps. */
export const deleting: BucketStep = {
  check: 'deleting',
  right: 's3:DeleteObject',
  needs: [uploading.check],
  async run({ s3, bucket, key, made }) {
    const objectRef = { Bucket: bucket, Key: key }
    const { VersionId } = await s3.send(new DeleteObjectCommand(objectRef))
    made(key, VersionId)
    const isGone = await s3.send(new HeadObjectCommand(objectRef)).then(
      () => false,
      (error: unknown) => [403, 404].includes(failureOf(error).status),
    )
    if (isGone) return finding('ok', this.check, 'works')
    return finding('problem', this.check, `${key} is still there`, `mc rm minio/${bucket}/${key}`)
  },
}

/** Whether a server prevents replacing: `write` requests that by `If-None-Match: *`, and must fail for that reason. */
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

/** Begins an upload with one part. */
async function begin({ s3, bucket, largeKey, uploadStarted }: TrialObjects) {
  const objectRef = { Bucket: bucket, Key: largeKey }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(objectRef))
  uploadStarted(UploadId)
  const upload = { ...objectRef, UploadId }
  const part = { ...upload, PartNumber: 1, Body: 'holdfast', ContentLength: 8 }
  const { ETag } = await s3.send(new UploadPartCommand(part))
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  return { upload, complete: { ...upload, MultipartUpload } }
}

/** Begins an upload and aborts it. */
export async function beginAndGiveUp(trial: TrialObjects): Promise<void> {
  const { upload } = await begin(trial)
  await trial.s3.send(new AbortMultipartUploadCommand(upload))
}

const largeUploads: BucketStep = {
  check: 'large uploads',
  right: 's3:PutObject',
  async run(trial) {
    const { complete } = await begin(trial)
    const { VersionId } = await trial.s3.send(new CompleteMultipartUploadCommand(complete))
    trial.made(trial.largeKey, VersionId)
    return finding('ok', this.check, 'work, in parts')
  },
}

const largeCreateOnly: BucketStep = {
  check: 'large create-only',
  right: 's3:PutObject',
  needs: [largeUploads.check],
  run: (trial) =>
    judgeCondition(largeCreateOnly.check, async () => {
      const { complete } = await begin(trial)
      const { VersionId } = await trial.s3.send(
        new CompleteMultipartUploadCommand({ ...complete, IfNoneMatch: '*' }),
      )
      trial.made(trial.largeKey, VersionId)
    }),
}

const findingUnfinished: BucketStep = {
  check: 'unfinished uploads',
  right: 's3:ListBucketMultipartUploads',
  needs: [largeUploads.check],
  async run({ s3, bucket }) {
    const { Uploads = [], IsTruncated } = await listUploads(s3, {
      Bucket: bucket,
      MaxUploads: 1000,
    })
    const others = Uploads.filter(({ Key = '' }) => !Key.includes('.holdfast-trial-')).length
    const message = `can be found; there are ${others}${IsTruncated === true ? ' or more' : ''}`
    return finding('ok', this.check, message)
  },
}

const findingParts: BucketStep = {
  check: 'parts',
  right: 's3:ListMultipartUploadParts',
  needs: [largeUploads.check],
  async run(trial) {
    const { upload } = await begin(trial)
    const { Parts = [] } = await trial.s3.send(new ListPartsCommand(upload))
    return finding('ok', this.check, `of unfinished uploads can be found (${Parts.length} of 1)`)
  },
}

const givingUp: BucketStep = {
  check: 'giving up',
  right: 's3:AbortMultipartUpload',
  needs: [largeUploads.check],
  async run(trial) {
    await beginAndGiveUp(trial)
    return finding('ok', this.check, 'unfinished uploads can be removed')
  },
}

/** The steps for objects in parts. */
export const multipartSteps: readonly BucketStep[] = [
  largeUploads,
  largeCreateOnly,
  findingUnfinished,
  findingParts,
  givingUp,
]

/** One thing that a store does with a bucket, for a trial. */
export interface BucketStep {
  readonly check: string
  /** The name of the right in policies. */
  readonly right: string
  /** Checks that must have succeeded before. */
  readonly needs?: readonly string[]
  readonly run: (trial: TrialObjects) => Promise<Finding>
}

/** Runs `steps` one after the other. A failed step does not stop those that do not need it. */
export async function* takeSteps(
  steps: readonly BucketStep[],
  trial: TrialObjects,
): AsyncGenerator<Finding> {
  const passed = new Set<string>()
  for (const step of steps) {
    const missing = step.needs?.find((check) => !passed.has(check))
    const found =
      missing === undefined
        ? await step.run(trial).catch((error: unknown) => failed(step, error))
        : finding('skipped', step.check, `not tried, since this has failed: ${missing}`)
    if (found.mark === 'ok' || found.mark === 'warning') passed.add(step.check)
    yield found
  }
}

const policyRemedy = 'Give it the rights in docs/deploy/bucket-policy.json; see docs/minio.md.'

function failed({ check, right }: BucketStep, error: unknown): Finding {
  const { code, status } = failureOf(error)
  if (code === 'AccessDenied' || status === 403) {
    return finding('problem', check, `the access key lacks the right ${right}`, policyRemedy)
  }
  const [reason = ''] = messageOf(error).split('\n')
  const remedy = 'See the log of the S3 server.'
  return finding('problem', check, `failed: ${code || status}: ${reason}`, remedy)
}
