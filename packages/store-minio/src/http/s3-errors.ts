import { FileServiceError, isFileServiceError, SetupError } from '@holdfast/core'
import type { RetryStrategyV2, RetryToken } from '@smithy/types'

/** Codes for "no room", of MinIO, Ceph and the protocol itself. */
const fullCodes = ['XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'QuotaExceeded']

/**
 * Codes by which a store says that we cannot use it now: wrong or expired credentials, no bucket, no rights, another region, a wrong
 * clock, a limit on the versions of an object. An administrator can mend them; none of them means that a file is missing.
 */
const refusalCodes = [
  'AccessDenied',
  'AccountProblem',
  'AllAccessDisabled',
  'AuthorizationHeaderMalformed',
  'BadDigest',
  'ConditionalRequestConflict',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidPart',
  'InvalidToken',
  'MaxVersionsExceeded',
  'NoSuchBucket',
  'NoSuchUpload',
  'PermanentRedirect',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'SignatureDoesNotMatch',
]

/**
 * The port's error for a failed request: `insufficient-storage` for a full store; `store-unavailable` for one that cannot be reached, does
 * not answer in time, or refuses us. Returns any other error, and one of the port already, as it is.
 */
export function translateError(error: unknown): unknown {
  if (isFileServiceError(error)) return error
  if (isFull(error)) {
    return new FileServiceError('insufficient-storage', 'The store is full', { cause: error })
  }
  if (isUnavailable(error)) {
    return new FileServiceError('store-unavailable', 'The store cannot be used now', {
      cause: error,
    })
  }
  return error
}

/** For a response whose length a proxy has removed: its end cannot be verified. */
export function lengthUnknown(): FileServiceError {
  return new FileServiceError(
    'store-unavailable',
    'The store does not report the length of an object',
  )
}

/** Whether the store says that it has no room. */
function isFull(error: unknown): boolean {
  const { code, status } = failureOf(error)
  return status === 507 || fullCodes.includes(code)
}

/** Codes that MinIO and S3 return before they have changed anything. */
const notNowCodes = [
  'OperationTimedOut',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'SlowDownRead',
  'SlowDownWrite',
  'XMinioServerNotInitialized',
]

/**
 * Whether the server may have carried out the failed request, or may still do so: it has received all of it, and its answer was lost, or
 * comes from a proxy that has lost it, or does not exclude that.
 */
export function mayBeDone(error: unknown): boolean {
  const { code, status } = failureOf(error)
  if (status < 400) return !(error instanceof Error && unsentRequests.has(error))
  return [500, 502, 503, 504].includes(status) && !notNowCodes.includes(code)
}

/** The failures of requests that were not sent completely. */
const unsentRequests = new WeakSet<Error>()

/** Records that the request of this failure was not sent completely: no server can have carried it out. */
export function markUnsent(error: Error): Error {
  unsentRequests.add(error)
  return error
}

/** Settles as `work` does, but translates its error into one of the port. */
export async function translating<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw translateError(error)
  }
}

/** Whether S3 has refused a conditional request, since another one for the object was under way: there may be an object now, or none. */
export function isConflict(error: unknown): boolean {
  return isAnswer(error, 'ConditionalRequestConflict')
}

/** Whether `error` is an answer of the store with one of `codes`, such as `NoSuchKey`. */
export function isAnswer(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(failureOf(error).code)
}

/** The code of a failure of the store or the connection: S3's code, or the system's. The status is 0 if there was no HTTP response. */
export function failureOf(error: unknown): { readonly code: string; readonly status: number } {
  if (!(error instanceof Error)) return { code: '', status: 0 }
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
  return { code: systemCode(error) ?? error.name, status: $metadata?.httpStatusCode ?? 0 }
}

function isUnavailable(error: unknown): boolean {
  const { code, status } = failureOf(error)
  if (refusalCodes.includes(code) || systemCode(error) !== undefined) return true
  return status >= 500 || status === 429 || status === 401 || status === 403
}

/** The code of a failed connection: of a system call, of TLS or of Node's HTTP parser. */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The options of a MinIO store that an administrator can get wrong. */
export type StoreSetting =
  | 'endpoint'
  | 'bucket'
  | 'accessKey'
  | 'secretKey'
  | 'region'
  | 'prefix'
  | 'createBucket'

/** Why a store cannot be opened. The words do not name the setting: the caller knows how it was set. */
export class StoreSettingError extends SetupError {
  override readonly name = 'StoreSettingError'
  /** The setting that is wrong; `undefined` if it is unknown, or no setting is wrong. */
  readonly setting: StoreSetting | undefined

  constructor(
    setting: StoreSetting | undefined,
    problem: string,
    remedies: readonly string[] = [],
    cause?: unknown,
  ) {
    super(problem, remedies, cause)
    this.setting = setting
  }
}

/** Retries of a request to an unreachable server: few, so that the client gets its answer soon. */
const retriesUnanswered = 2

/** Retries of a request that timed out: one, since the first try has taken long already. */
const retriesSilent = 1

/**
 * Retries of a request that the server has answered with "not now": a cluster that has lost a node finds its quorum again within some ten
 * seconds.
 */
const retriesAnswered = 7

/**
 * How long to wait, in ms, before repeating a request for a multipart upload that the store calls unknown. A node of a cluster that has
 * just lost another node, or has just come back itself, may say so of an existing upload.
 */
export const pausesForUpload: readonly number[] = [300, 1000, 3000]

const shortestPauseMs = 100
const longestPauseMs = 4000

export interface RetryStrategyOptions {
  /** Whether to repeat requests that the server may have carried out. Default: yes. */
  readonly repeatsDoubtful?: boolean
}

/**
 * Makes the retry strategy of the S3 client: it repeats requests after failures of the server or the network, not after our own mistakes.
 * The pauses grow from tenths of a second to seconds, and are shortened at random, so that many clients do not come back at once. In all,
 * up to 0.6 seconds for a server that cannot be reached, up to 14 for one that answers.
 */
export function createRetryStrategy(
  random: () => number = Math.random,
  { repeatsDoubtful = true }: RetryStrategyOptions = {},
): RetryStrategyV2 {
  return {
    acquireInitialRetryToken: async () => tokenOf(0, 0),
    async refreshRetryTokenForRetry(token, failure) {
      const count = token.getRetryCount() + 1
      const isAllowed = repeatsDoubtful || !mayBeDone(failure.error)
      if (!isAllowed || count > retriesFor(failure)) throw new Error('Enough has been tried')
      return tokenOf(count, pauseBefore(count, random))
    },
    recordSuccess: () => {},
  }
}

function pauseBefore(count: number, random: () => number): number {
  return Math.ceil(random() * Math.min(shortestPauseMs * 2 ** count, longestPauseMs))
}

/**
 * How long to wait, in ms, before the repetition `count`, from 1, of a request that the server may have carried out, or has refused
 * because of its state; `undefined` if it must not be repeated.
 */
export function pauseBeforeRepeating(error: unknown, count: number): number | undefined {
  if (isAnswer(error, 'NoSuchUpload')) return pausesForUpload[count - 1]
  const isStale = isAnswer(error, 'PreconditionFailed', 'ConditionalRequestConflict')
  const limit = isStale ? retriesUnanswered : mayBeDone(error) ? retriesFor({ error }) : 0
  return count <= limit ? pauseBefore(count, Math.random) : undefined
}

function retriesFor({ error, errorType }: { error?: unknown; errorType?: string }): number {
  const { code, status } = failureOf(error)
  // A node that has just come back and does not know yet what the others have answers this.
  if (code === 'InvalidPart') return retriesAnswered
  // A server that does not implement a request (501) will not do so a moment later.
  if (errorType === 'CLIENT_ERROR' || isFull(error) || status === 501) return 0
  if (code === 'ETIMEDOUT') return retriesSilent
  return status === 429 || status >= 500 ? retriesAnswered : retriesUnanswered
}

function tokenOf(count: number, delayMs: number): RetryToken {
  return { getRetryCount: () => count, getRetryDelay: () => delayMs }
}
