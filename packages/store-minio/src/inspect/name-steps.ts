import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { finding } from '@holdfast/core'
import { listedKeys, misnames } from '../bucket/listed-names.ts'
import { failureOf } from '../errors/s3-errors.ts'
import type { TrialObjects } from '../bucket/trial-objects.ts'
import type { BucketStep } from './bucket-step.ts'
import { beginAndGiveUp } from './multipart-steps.ts'

const names: BucketStep = {
  check: 'names',
  right: 's3:ListBucket',
  needs: ['uploading', 'listing', 'giving up'],
  async run(trial) {
    const { escaped, notInXml } = trial.oddKeys
    for (const key of [escaped, notInXml]) await put(trial, key)
    // After it rclone reads the names anew from its backend.
    await beginAndGiveUp(trial)
    const listed = await listedKeys(trial)
    if (!listed.includes(escaped)) {
      return finding('problem', this.check, misnames, 'Use another S3 server.')
    }
    if (listed.includes(notInXml)) return finding('ok', this.check, 'are listed as they were given')
    const message =
      'the server changes characters that XML cannot have: files called ". ", " ." or ".. ", and those with U+FFFE or U+FFFF in the name, go missing from lists or have another name there'
    const remedy = 'Use a server that keeps every key as it is, unless no file has such a name.'
    return finding('warning', this.check, message, remedy)
  },
}

const twins: BucketStep = {
  check: 'similar names',
  right: 's3:GetObject',
  needs: ['uploading', 'downloading', names.check],
  async run(trial) {
    for (const key of trial.oddKeys.twins) {
      if (!(await isThere(trial, key))) continue
      const message =
        'the server takes names for one that differ in case or Unicode normalisation only; customers could see files of others'
      const remedy =
        'Start rclone with --no-unicode-normalization; use another file system for other servers.'
      return finding('problem', this.check, message, remedy)
    }
    return finding('ok', this.check, 'are kept apart')
  },
}

async function put({ s3, bucket, made }: TrialObjects, Key: string): Promise<void> {
  const { VersionId } = await s3.send(
    new PutObjectCommand({ Bucket: bucket, Key, Body: 'x', ContentLength: 1 }),
  )
  made(Key, VersionId)
}

async function isThere({ s3, bucket }: TrialObjects, Key: string): Promise<boolean> {
  try {
    await s3.send(new HeadObjectCommand({ Bucket: bucket, Key }))
    return true
  } catch (error) {
    if (failureOf(error).status === 404) return false
    throw error
  }
}

/** What a server makes of unusual names. */
export const nameSteps: readonly BucketStep[] = [names, twins]
