import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { deleteTrialObject } from './delete-trial-object.ts'
import { createTrialObjects } from './trial-objects.ts'

/** Where to probe. */
export interface ProbedBucket {
  readonly s3: S3Client
  readonly bucket: string
  /** What the keys begin with. */
  readonly prefix: string
}

const content = 'holdfast'

/**
 * Puts a small object that is no customer's, reads it, and removes it. Rejects with what fails. Of a probe that failed,
 * or was killed, the object is removed soon, or by the sweeps of trials.
 */
export async function probeBucket(probed: ProbedBucket, signal?: AbortSignal): Promise<void> {
  const { s3, bucket, prefix } = probed
  const trial = createTrialObjects(s3, bucket, prefix)
  const place = { Bucket: bucket, Key: trial.key }
  const until = signal && { abortSignal: signal }
  try {
    const put = new PutObjectCommand({ ...place, Body: content, ContentLength: content.length })
    const { VersionId } = await s3.send(put, until)
    trial.made(trial.key, VersionId)
    const { Body } = await s3.send(new GetObjectCommand(place), until)
    if ((await Body?.transformToString()) !== content) {
      throw new Error('What was written has come back as something else')
    }
    await deleteTrialObject(s3, { ...place, VersionId }, until)
  } catch (error) {
    // Not awaited: the caller has waited long enough.
    void trial.remove()
    throw error
  }
}
