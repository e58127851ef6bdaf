import { finding, type Finding } from '@holdfast/core'
import { checkBucket } from '../bucket/check-bucket.ts'
import { isAnswer } from '../errors/s3-errors.ts'
import {
  createStoreAccess,
  type StoreAccess,
  type StoreAccessOptions,
} from '../bucket/store-access.ts'
import { StoreSettingError } from '../errors/store-setting-error.ts'
import { takeSteps } from './bucket-step.ts'
import { encryptionFinding } from './encryption-finding.ts'
import { multipartSteps } from './multipart-steps.ts'
import { nameSteps } from './name-steps.ts'
import { deleting, objectSteps } from './object-steps.ts'
import { createResumingStep } from './resuming-step.ts'
import { serverClockFinding } from './server-clock-finding.ts'
import { settingSteps } from './setting-steps.ts'
import { createStrangersStep } from './strangers-step.ts'
import { createTrialObjects, removeOldTrials } from '../bucket/trial-objects.ts'

export interface BucketInspectionOptions extends StoreAccessOptions {
  /** Ends the inspection soon; what it has made is removed first. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Looks whether a store can keep files in a bucket, and keeps them well, and says what to do where not: finding after
 * finding, as they are made. Harmless at any time, also beside running stores: it never makes the bucket, and what it
 * tries, it tries with objects of its own, which are no customer's and are removed when the iteration ends. Of a process
 * that was killed, an inspection that comes an hour later removes them.
 *
 * @throws StoreSettingError that says which setting is wrong, where the bucket cannot be reached at all; the reason of
 * `signal`
 */
export async function* inspectBucket(options: BucketInspectionOptions): AsyncGenerator<Finding> {
  const access = createStoreAccess(options)
  try {
    yield encryptionFinding(options.endpoint)
    yield* await clockFindings(options.endpoint)
    const bucket = await reach(access, options)
    yield bucket
    if (bucket.mark === 'skipped') return
    yield* tryOut(access, options)
  } finally {
    access.client.close()
  }
}

async function clockFindings(endpoint: string): Promise<readonly Finding[]> {
  try {
    const signal = AbortSignal.timeout(5_000)
    const response = await fetch(endpoint, { method: 'HEAD', redirect: 'manual', signal })
    return [serverClockFinding(response.headers.get('date'), Date.now())]
  } catch {
    // The next step reports why the server does not answer.
    return []
  }
}

async function reach(
  { client: { s3 }, region, prefix }: StoreAccess,
  { endpoint, bucket, createBucket = false }: BucketInspectionOptions,
): Promise<Finding> {
  const begin = performance.now()
  const elapsed = () => `answers within ${Math.ceil(performance.now() - begin)} ms`
  try {
    await checkBucket({ s3, endpoint, bucket, region, prefix, createBucket: false })
    return finding('ok', 'bucket', `${bucket} at ${endpoint} ${elapsed()}`)
  } catch (error) {
    if (!(error instanceof StoreSettingError)) throw error
    if (createBucket && isAnswer(error.cause, 'NoSuchBucket')) {
      return finding('skipped', 'bucket', `${bucket} is missing; the server makes it at its start`)
    }
    // The remaining steps still run; the one for listing reports the missing permission.
    if (!isAnswer(error.cause, 'AccessDenied')) throw error
    return finding('ok', 'bucket', `${bucket} at ${endpoint} ${elapsed()}`)
  }
}

async function* tryOut(
  { client: { s3, changing }, prefix }: StoreAccess,
  { endpoint, bucket, signal }: BucketInspectionOptions,
): AsyncGenerator<Finding> {
  await removeOldTrials(s3, bucket, prefix)
  const trial = createTrialObjects(s3, bucket, prefix)
  const strangers = createStrangersStep(new URL(endpoint).origin)
  const steps = [
    ...objectSteps,
    ...multipartSteps,
    createResumingStep(changing),
    ...nameSteps,
    ...settingSteps,
    strangers,
    deleting,
  ]
  try {
    for await (const found of takeSteps(steps, trial)) {
      yield found
      signal?.throwIfAborted()
    }
  } finally {
    await trial.remove()
  }
}
