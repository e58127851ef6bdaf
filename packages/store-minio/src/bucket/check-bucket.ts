import {
  CreateBucketCommand,
  ListObjectsV2Command,
  type S3Client,
  GetObjectCommand,
  PutObjectCommand,
  GetBucketVersioningCommand,
} from '@aws-sdk/client-s3'
import { messageOf } from '@holdfast/core'
import { failureOf, isAnswer, StoreSettingError, type StoreSetting } from '../http/s3-errors.ts'
import { keyDecoder } from '../keys/object-keys.ts'
import { versionsOfKey } from '../list/list-objects.ts'
import { removeVersions } from '../write/own-objects.ts'
import {
  deleteTrialObject,
  createTrialObjects,
  type TrialObjects,
  patience,
  type ServerTrial,
} from './trial-objects.ts'

interface BucketCheck {
  readonly s3: S3Client
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly prefix: string
  /** Whether to make the bucket if it is missing. */
  readonly createBucket: boolean
}

/**
 * Checks that the bucket exists and may be listed.
 *
 * @throws StoreSettingError that says which setting is wrong
 */
export async function checkBucket(check: BucketCheck): Promise<void> {
  const { s3, bucket, prefix, createBucket } = check
  // The answer to HEAD would not say why it failed.
  const look = async () => {
    const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
    const { Name: listed } = await s3.send(command)
    // The client takes many web pages for an empty list.
    if (listed !== bucket) throw new Error('the answer is no list of the bucket')
  }
  if (!canBeInPath(bucket)) throw new StoreSettingError(...noBucketName(check))
  try {
    await look().catch(async (error: unknown) => {
      if (!createBucket || !isAnswer(error, 'NoSuchBucket')) throw error
      await makeBucket(check)
      await look()
    })
  } catch (error) {
    throw explain(error, check)
  }
}

/** Whether `bucket` stays unchanged in the path of a URL; the server checks the rest. */
function canBeInPath(bucket: string): boolean {
  return /^[a-z0-9][a-z0-9._-]*$/i.test(bucket)
}

function noBucketName({ bucket }: BucketCheck): [StoreSetting, string] {
  return ['bucket', `"${bucket}" cannot be the name of a bucket`]
}

async function makeBucket({ s3, bucket, region }: BucketCheck): Promise<void> {
  // S3 does not accept the name of this region here.
  const isDefault = region === 'us-east-1'
  const command = new CreateBucketCommand({
    Bucket: bucket,
    ...(!isDefault && { CreateBucketConfiguration: { LocationConstraint: region as never } }),
  })
  await s3.send(command).catch((error: unknown) => {
    // Another server made it first.
    if (!isAnswer(error, 'BucketAlreadyOwnedByYou', 'BucketAlreadyExists')) throw error
  })
}

interface Reason {
  readonly setting: StoreSetting | undefined
  readonly problem: (check: BucketCheck) => string
  readonly remedy?: string
}

const noTls: Reason = {
  setting: 'endpoint',
  problem: ({ endpoint }) => `${endpoint} does not speak TLS`,
  remedy: 'is it http://?',
}

const reasons: Readonly<Record<string, Reason>> = {
  NoSuchBucket: { setting: 'bucket', problem: ({ bucket }) => `there is no bucket "${bucket}"` },
  InvalidBucketName: { setting: 'bucket', problem: (check) => noBucketName(check)[1] },
  InvalidAccessKeyId: {
    setting: 'accessKey',
    problem: () => 'the server does not know the access key',
  },
  SignatureDoesNotMatch: {
    setting: 'secretKey',
    problem: () => 'the secret key does not belong to the access key',
  },
  AccessDenied: {
    setting: 'accessKey',
    problem: ({ bucket }) => `the access key may not list the bucket "${bucket}"`,
    remedy: 'the rights it needs are in docs/minio.md',
  },
  AuthorizationHeaderMalformed: {
    setting: 'region',
    problem: ({ region }) => `the server is not in region "${region}"`,
  },
  PermanentRedirect: {
    setting: 'region',
    problem: ({ region }) => `the bucket is not in region "${region}"`,
  },
  RequestTimeTooSkewed: {
    setting: undefined,
    problem: () => 'the clocks of this machine and the server disagree by over 15 minutes',
  },
  ECONNREFUSED: {
    setting: 'endpoint',
    problem: ({ endpoint }) => `nothing listens at ${endpoint}`,
  },
  ENOTFOUND: {
    setting: 'endpoint',
    problem: ({ endpoint }) => `the host of ${endpoint} is not known`,
  },
  EAI_AGAIN: {
    setting: 'endpoint',
    problem: ({ endpoint }) => `the host of ${endpoint} cannot be looked up now`,
  },
  ETIMEDOUT: { setting: 'endpoint', problem: ({ endpoint }) => `${endpoint} does not answer` },
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/

function explain(error: unknown, check: BucketCheck): StoreSettingError {
  const { code, status } = failureOf(error)
  // The following lines of the client's message are advice for programmers.
  const [reason = ''] = messageOf(error).split('\n')
  if (certificateCodes.test(code)) {
    const remedy = 'give the certificate of its authority to Node.js by NODE_EXTRA_CA_CERTS'
    const problem = `the certificate of ${check.endpoint} is not trusted (${reason})`
    return new StoreSettingError('endpoint', problem, [remedy], error)
  }
  const known = reasons[code]
  if (known) {
    const { setting, problem, remedy } = known
    return new StoreSettingError(setting, problem(check), remedy ? [remedy] : [], error)
  }
  // A server that expects TLS answers plain HTTP by an error, or by something that is no HTTP.
  const isTls = check.endpoint.startsWith('http://') && (status === 400 || code.startsWith('HPE_'))
  const problem = `${check.endpoint} does not answer as an S3 server (${status || code}: ${reason})`
  return new StoreSettingError('endpoint', problem, isTls ? ['is it https://?'] : [], error)
}

/** The bucket that a probe uses. */
interface ProbedBucket {
  readonly s3: S3Client
  readonly bucket: string
  /** What the keys begin with. */
  readonly prefix: string
}

const content = 'holdfast'

/**
 * Puts a small object that is no customer's, reads it, and removes it. Rejects with the first failure. If a probe fails or is killed, its
 * object is removed soon, or by the sweeps of trials.
 */
export async function probeBucket(probed: ProbedBucket, signal?: AbortSignal): Promise<void> {
  const { s3, bucket, prefix } = probed
  const trial = createTrialObjects(s3, bucket, prefix)
  const objectRef = { Bucket: bucket, Key: trial.key }
  const until = signal && { abortSignal: signal }
  try {
    const put = new PutObjectCommand({ ...objectRef, Body: content, ContentLength: content.length })
    const { VersionId } = await s3.send(put, until)
    trial.made(trial.key, VersionId)
    const { Body } = await s3.send(new GetObjectCommand(objectRef), until)
    if ((await Body?.transformToString()) !== content) {
      throw new Error('The probe read other bytes than it wrote')
    }
    await deleteTrialObject(s3, { ...objectRef, VersionId }, until)
  } catch (error) {
    // Not awaited: the caller has waited long enough already.
    void trial.remove()
    throw error
  }
}

/** What is wrong with a server whose lists have other keys than those that were put: a sentence without its end. */
export const misnames =
  'the server lists files whose names contain a percent sign, a plus or a space under other names'

/** The keys in the bucket that begin with the trial's key, as the store's lists have them. */
export async function listedKeys(
  { s3, bucket, key }: Pick<TrialObjects, 's3' | 'bucket' | 'key'>,
  options?: { readonly abortSignal: AbortSignal },
): Promise<readonly string[]> {
  const request = { Bucket: bucket, Prefix: key, EncodingType: 'url' } as const
  const page = await s3.send(new ListObjectsV2Command(request), options)
  const decode = keyDecoder(page.EncodingType)
  return (page.Contents ?? []).map(({ Key = '' }) => decode(Key))
}

/**
 * Checks that lists have the keys that were put: some servers say that their keys are URL-encoded, but encode none, or not all special
 * characters. A trial that fails otherwise is ignored: uploads and lists will fail by themselves.
 *
 * @throws StoreSettingError
 */
export async function checkListedNames({ client, bucket, prefix }: ServerTrial): Promise<void> {
  const { s3 } = client
  const { key } = createTrialObjects(s3, bucket, prefix)
  const oddKey = `${key}-a b+%41`
  const found = await listOne(s3, { bucket, key, oddKey }).catch(() => undefined)
  const listed = (found ?? []).filter((each) => each.startsWith(key))
  // The list may be too early to contain it.
  if (listed.length === 0 || listed.includes(oddKey)) return
  throw new StoreSettingError('endpoint', misnames, ['use another S3 server'])
}

interface OddObject {
  readonly bucket: string
  /** The beginning of `oddKey`, and of no other key. */
  readonly key: string
  readonly oddKey: string
}

/** Puts the object, lists it, and removes it. */
async function listOne(
  s3: S3Client,
  { bucket, key, oddKey }: OddObject,
): Promise<readonly string[]> {
  const until = { abortSignal: AbortSignal.timeout(patience) }
  const objectRef = { Bucket: bucket, Key: oddKey }
  const command = new PutObjectCommand({ ...objectRef, Body: 'x', ContentLength: 1 })
  const { VersionId } = await s3.send(command, until)
  try {
    return await listedKeys({ s3, bucket, key }, until)
  } finally {
    // The sweeps of trials remove what stays.
    await deleteTrialObject(s3, { ...objectRef, VersionId }, until).catch(() => {})
  }
}

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
