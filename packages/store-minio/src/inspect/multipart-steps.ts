import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { finding } from '@holdfast/core'
import { listUploads } from '../list/list-objects.ts'
import type { BucketStep } from './bucket-step.ts'
import { judgeCondition } from './object-steps.ts'
import type { TrialObjects } from '../bucket/trial-objects.ts'

/** An upload with one part. */
async function begin({ s3, bucket, largeKey, uploadStarted }: TrialObjects) {
  const place = { Bucket: bucket, Key: largeKey }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(place))
  uploadStarted(UploadId)
  const upload = { ...place, UploadId }
  const part = { ...upload, PartNumber: 1, Body: 'holdfast', ContentLength: 8 }
  const { ETag } = await s3.send(new UploadPartCommand(part))
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  return { upload, complete: { ...upload, MultipartUpload } }
}

/** An upload that is not finished. */
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

/** What a store does with objects that come in parts. */
export const multipartSteps: readonly BucketStep[] = [
  largeUploads,
  largeCreateOnly,
  findingUnfinished,
  findingParts,
  givingUp,
]
