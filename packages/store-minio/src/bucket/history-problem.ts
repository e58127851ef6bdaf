import {
  GetBucketVersioningCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { failureOf, isAnswer } from '../errors/s3-errors.ts'
import { versionsOfKey } from '../list/list-versions.ts'
import { removeVersions } from '../write/own-objects.ts'
import { createTrialObjects, patience, type TrialObjects } from './trial-objects.ts'

/** The bucket, and what its keys begin with. */
interface TriedBucket {
  readonly s3: S3Client
  readonly bucket: string
  readonly prefix: string
}

/**
 * Why the versions of a bucket cannot be a history, in words for its administrator, with what to do; `undefined` if they can. The words
 * begin in lower case and have no full stop. Tries each right that is needed with an object that is no customer's. Never throws.
 */
export async function findHistoryProblem(tried: TriedBucket): Promise<string | undefined> {
  const signal = AbortSignal.timeout(patience)
  try {
    return (await settingProblem(tried, signal)) ?? (await rightsProblem(tried, signal))
  } catch (error) {
    return `whether the bucket "${tried.bucket}" keeps versions could not be tested (${String(error)})`
  }
}

async function settingProblem(
  { s3, bucket }: TriedBucket,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const look = s3.send(new GetBucketVersioningCommand({ Bucket: bucket }), { abortSignal })
  const answer = await look.catch((error: unknown) => {
    const { code, status } = failureOf(error)
    if (isDenied(error)) return lacksRight('s3:GetBucketVersioning')
    if (status === 501 || status === 405 || status === 400) {
      return `the S3 server keeps no versions (${code}); use another one, such as MinIO`
    }
    throw error
  })
  if (typeof answer === 'string') return answer
  const remedy = `mc version enable minio/${bucket}`
  if (answer.Status === 'Enabled') return undefined
  if (answer.Status === 'Suspended') {
    return `versioning of the bucket "${bucket}" is suspended; ${remedy}`
  }
  return `the bucket "${bucket}" has no versioning; ${remedy}`
}

/** One thing that the history does, and the right that it needs. */
type RightStep = readonly [right: string, run: (version: string) => Promise<unknown>]

async function rightsProblem(
  { s3, bucket, prefix }: TriedBucket,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const trial = createTrialObjects(s3, bucket, prefix)
  const { key } = trial
  const version = await putTrial(trial, abortSignal)
  if (version === undefined) {
    return `the bucket "${bucket}" keeps no versions of holdfast's keys; see its excluded prefixes: mc version info minio/${bucket}`
  }
  const steps: readonly RightStep[] = [
    ['s3:ListBucketVersions', () => versionsOfKey(trial).next()],
    [
      's3:GetObjectVersion',
      async () => {
        const command = new GetObjectCommand({ Bucket: bucket, Key: key, VersionId: version })
        const { Body } = await s3.send(command, { abortSignal })
        await Body?.transformToString()
      },
    ],
    ['s3:DeleteObjectVersion', () => removeVersions(s3, bucket, [{ key, version }])],
  ]
  try {
    for (const [right, run] of steps) {
      const problem = await run(version).then(
        () => undefined,
        (error: unknown) => {
          if (isDenied(error)) return lacksRight(right)
          throw error
        },
      )
      if (problem !== undefined) return problem
    }
    return undefined
  } finally {
    await trial.remove()
  }
}

async function putTrial(
  { s3, bucket, key, made }: TrialObjects,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const command = new PutObjectCommand({ Bucket: bucket, Key: key, Body: 'x', ContentLength: 1 })
  const { VersionId } = await s3.send(command, { abortSignal })
  made(key, VersionId)
  return VersionId
}

/** Also for the errors of the store that name this one as their cause. */
function isDenied(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  return (
    isAnswer(error, 'AccessDenied') ||
    failureOf(error).status === 403 ||
    (cause !== undefined && isDenied(cause))
  )
}

function lacksRight(right: string): string {
  return `the policy does not allow ${right}; give the access key the rights in docs/deploy/bucket-versions-policy.json, too`
}
