import { finding, type Finding, isLoopbackHost } from '@holdfast/core'
import {
  type S3Client,
  HeadObjectCommand,
  PutObjectCommand,
  GetBucketLifecycleConfigurationCommand,
  GetObjectLockConfigurationCommand,
  type LifecycleRule,
} from '@aws-sdk/client-s3'
import { compareAndSwapProblem } from '../bucket/can-compare-and-swap.ts'
import { checkBucket, listedKeys, misnames, findHistoryProblem } from '../bucket/check-bucket.ts'
import {
  createStoreAccess,
  type StoreAccess,
  type StoreAccessOptions,
} from '../minio-blob-store.ts'
import { createTrialObjects, removeOldTrials, type TrialObjects } from '../bucket/trial-objects.ts'
import { escapeUri } from '../http/get-client.ts'
import { isAnswer, StoreSettingError, failureOf } from '../http/s3-errors.ts'
import {
  takeSteps,
  type BucketStep,
  multipartSteps,
  beginAndGiveUp,
  deleting,
  objectSteps,
} from './object-steps.ts'
import { createRivalsStep, rivalWriters } from './rival-writers.ts'

export interface BucketInspectionOptions extends StoreAccessOptions {
  /** Whether earlier versions are to be kept, so that they can be restored. Default: no. */
  readonly keepReplaced?: boolean
  /** Ends the inspection soon; it first removes what it has made. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Checks whether a store can keep files well in a bucket. Yields each finding as it is made, with a remedy where something is wrong.
 * Harmless at any time, also beside running stores: it never makes the bucket, and makes its trials with objects that are no customer's.
 * They are removed when the iteration ends; if the process is killed, by an inspection at least an hour later.
 *
 * @throws StoreSettingError that says which setting is wrong, if the bucket cannot be reached at all; the reason of `signal`
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
    // The other steps still run; that for listing reports the missing permission.
    if (!isAnswer(error.cause, 'AccessDenied')) throw error
    return finding('ok', 'bucket', `${bucket} at ${endpoint} ${elapsed()}`)
  }
}

async function* tryOut(
  { client: { s3, changing }, prefix }: StoreAccess,
  { endpoint, bucket, signal, keepReplaced = false }: BucketInspectionOptions,
): AsyncGenerator<Finding> {
  await removeOldTrials(s3, bucket, prefix)
  const trial = createTrialObjects(s3, bucket, prefix)
  const strangers = createStrangersStep(new URL(endpoint).origin)
  const steps = [
    ...objectSteps,
    ...multipartSteps,
    createResumingStep(changing),
    createRivalsStep(changing),
    ...nameSteps,
    keepReplaced ? createHistoryStep(prefix) : versioning,
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

/** Whether files are encrypted on their way to `endpoint`, if they leave this machine. */
export function encryptionFinding(endpoint: string): Finding {
  const check = 'encryption'
  const { protocol, hostname } = new URL(endpoint)
  if (protocol === 'https:') return finding('ok', check, 'TLS on the way to the server')
  if (isLoopbackHost(hostname)) {
    return finding('ok', check, 'not needed: the server, or a proxy to it, is on this machine')
  }
  const message = `files go to ${hostname} without encryption; anyone on the network in between can read and change them`
  return finding('warning', check, message, `Give the server a certificate, and use https://`)
}

/** Checks whether the store can keep uploads that come in pieces. */
function createResumingStep(changing: S3Client): BucketStep {
  return {
    check: 'resuming uploads',
    right: 's3:PutObject',
    needs: ['uploading', 'large uploads'],
    async run(trial) {
      const problem = await compareAndSwapProblem(changing, trial, { rivals: rivalWriters })
      if (problem === undefined) return finding('ok', this.check, 'works')
      const message = `the server ${problem}; uploads that break off cannot be resumed, and start again`
      const remedy = 'Use a server that honours If-Match on PutObject, as MinIO does.'
      return finding('warning', this.check, message, remedy)
    },
  }
}

/** How many seconds clocks may differ; S3 servers refuse requests beyond the second number. */
const bounds = { warning: 60, problem: 15 * 60 }

/** Compares the server's clock, by the `Date` header of its answer, with `now`, in milliseconds since 1970. */
export function serverClockFinding(date: string | null, now: number): Finding {
  const check = 'clock'
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return finding('skipped', check, 'the server does not report its time')
  const seconds = Math.round(Math.abs(theirs - now) / 1000)
  if (seconds <= bounds.warning) {
    return finding('ok', check, `at most ${Math.max(seconds, 1)} s from that of the server`)
  }
  const direction = theirs > now ? 'behind' : 'ahead of'
  const message = `this machine is ${seconds} s ${direction} the S3 server, which refuses requests if clocks differ by more than 15 minutes`
  const mark = seconds > bounds.problem ? 'problem' : 'warning'
  return finding(mark, check, message, 'On the one that is wrong: timedatectl set-ntp true')
}

/** Milliseconds to wait for an answer. */
const patience = 10_000

/** Checks whether anonymous requests may read, list or write the bucket at `endpoint`. */
function createStrangersStep(endpoint: string): BucketStep {
  return {
    check: 'strangers',
    right: 'none',
    needs: ['uploading'],
    async run({ bucket, key }) {
      const url = `${endpoint}/${bucket}`
      const path = `${url}/${key.split('/').map(escapeUri).join('/')}`
      const may = {
        read: await succeeds(path, {}),
        list: await succeeds(`${url}?list-type=2&max-keys=1`, {}),
        write: await succeeds(path, { method: 'PUT', body: 'holdfast' }),
      }
      const open = Object.entries(may).flatMap(([what, isAllowed]) => (isAllowed ? [what] : []))
      if (open.length === 0) return finding('ok', this.check, 'may neither read, list nor write')
      const message = `everyone who reaches the server may ${open.join(' and ')} files of customers, without a key`
      return finding('problem', this.check, message, `mc anonymous set none minio/${bucket}`)
    },
  }
}

async function succeeds(url: string, request: RequestInit): Promise<boolean> {
  const signal = AbortSignal.timeout(patience)
  const response = await fetch(url, { ...request, redirect: 'manual', signal })
  await response.body?.cancel()
  return response.ok
}

const names: BucketStep = {
  check: 'names',
  right: 's3:ListBucket',
  needs: ['uploading', 'listing', 'giving up'],
  async run(trial) {
    const { escaped, notInXml } = trial.oddKeys
    for (const key of [escaped, notInXml]) await put(trial, key)
    // After this, rclone reads the names again from its backend.
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
        'the server treats names as equal that differ only in case or Unicode normalisation; customers could see files of others'
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

/** How the server treats unusual names. */
const nameSteps: readonly BucketStep[] = [names, twins]

const versioning: BucketStep = {
  check: 'versioning',
  right: 's3:GetObject',
  needs: ['downloading'],
  async run({ s3, bucket, key }) {
    const command = new HeadObjectCommand({ Bucket: bucket, Key: key })
    const { VersionId } = await s3.send(command)
    if (VersionId === undefined || VersionId === 'null') return finding('ok', this.check, 'is off')
    const message = 'is on; replaced and deleted files stay, and take room that quotas do not count'
    const remedies = [
      `mc version suspend minio/${bucket}`,
      `or remove them after a time: mc ilm import minio/${bucket} < docs/deploy/bucket-lifecycle.json`,
    ]
    return finding('warning', this.check, message, ...remedies)
  },
}

/** Checks whether what is replaced or deleted can be restored. */
function createHistoryStep(prefix: string): BucketStep {
  return {
    check: versioning.check,
    right: 's3:GetBucketVersioning',
    needs: ['uploading'],
    async run({ s3, bucket }) {
      const problem = await findHistoryProblem({ s3, bucket, prefix })
      if (problem === undefined) {
        return finding('ok', this.check, 'is on; what is replaced or deleted can be restored')
      }
      return finding('problem', this.check, `nothing can be restored: ${problem}`)
    },
  }
}

const objectLock: BucketStep = {
  check: 'object lock',
  right: 's3:GetBucketObjectLockConfiguration',
  run: ({ s3, bucket }) =>
    ifShown(objectLock, async () => {
      const command = new GetObjectLockConfigurationCommand({ Bucket: bucket })
      const { ObjectLockConfiguration: lock } = await s3.send(command)
      if (lock?.ObjectLockEnabled !== 'Enabled') return finding('ok', objectLock.check, 'is off')
      const message = 'is on; what customers delete stays until its retention ends'
      const remedy = 'Use a bucket without it, unless the law requires it.'
      return finding('warning', objectLock.check, message, remedy)
    }),
}

const lifecycle: BucketStep = {
  check: 'lifecycle rules',
  right: 's3:GetLifecycleConfiguration',
  run: (trial) =>
    ifShown(lifecycle, async () => {
      const command = new GetBucketLifecycleConfigurationCommand({ Bucket: trial.bucket })
      const { Rules: rules = [] } = await trial.s3.send(command)
      return judgeRules(rules, trial)
    }),
}

function judgeRules(rules: readonly LifecycleRule[], { bucket, key }: TrialObjects): Finding {
  const prefix = key.slice(0, key.lastIndexOf('/') + 1)
  const deleting = rules.find((rule) => deletesBelow(rule, prefix))
  if (!deleting) return finding('ok', lifecycle.check, 'delete no files')
  const after = deleting.Expiration?.Days
  const time = after === undefined ? 'at a date' : `${after} days after their upload`
  const message = `the rule "${deleting.ID ?? ''}" deletes files of customers ${time}`
  const remedy = `mc ilm rule rm --id "${deleting.ID ?? ''}" minio/${bucket}`
  return finding('problem', lifecycle.check, message, remedy)
}

/** Whether the rule deletes current objects that could be ours. */
function deletesBelow(rule: LifecycleRule, prefix: string): boolean {
  const { Status, Expiration, Filter } = rule
  if (Status !== 'Enabled' || !Expiration) return false
  if (Expiration.Days === undefined && Expiration.Date === undefined) return false
  // oxlint-disable-next-line typescript/no-deprecated -- rules that were made so are still there
  const scope = Filter?.Prefix ?? Filter?.And?.Prefix ?? rule.Prefix ?? ''
  // Our objects have no tags.
  if (Filter?.Tag !== undefined || (Filter?.And?.Tags?.length ?? 0) > 0) return false
  return scope.startsWith(prefix) || prefix.startsWith(scope)
}

/** The access key need not have the right to see settings; a server that does not know a setting does not have it. */
async function ifShown({ check, right }: BucketStep, look: () => Promise<Finding>) {
  try {
    return await look()
  } catch (error) {
    const { status } = failureOf(error)
    if (status === 403) return finding('skipped', check, `not shown to this access key (${right})`)
    if (status === 404 || status === 501 || isAnswer(error, 'NotImplemented')) {
      return finding('ok', check, 'there are none')
    }
    throw error
  }
}

/** What the bucket is set to do by itself. */
const settingSteps: readonly BucketStep[] = [objectLock, lifecycle]
