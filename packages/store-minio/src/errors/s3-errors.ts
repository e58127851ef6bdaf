import { FileServiceError, isFileServiceError, SetupError } from '@holdfast/core'

/** Codes for "no room", of MinIO, Ceph and the protocol itself. */
const fullCodes = ['XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'QuotaExceeded']

/**
 * Codes that say that the store cannot be used by us now, in its own words: wrong or expired credentials, no bucket, no
 * rights, another region, a clock that is off. An administrator can mend them; nothing says that a file is missing.
 */
const refusalCodes = [
  'AccessDenied',
  'AccountProblem',
  'AllAccessDisabled',
  'AuthorizationHeaderMalformed',
  'BadDigest',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidPart',
  'InvalidToken',
  'NoSuchBucket',
  'NoSuchUpload',
  'PermanentRedirect',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'SignatureDoesNotMatch',
]

/**
 * What the port says of a failed request: `insufficient-storage` for a full store; `store-unavailable` for one that
 * cannot be reached, does not answer in time, or refuses us; anything else, and what is said already, as it is.
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

/** For a response whose length a proxy has removed: its end cannot be checked. */
export function lengthUnknown(): FileServiceError {
  return new FileServiceError(
    'store-unavailable',
    'The store does not report the length of an object',
  )
}

/** Whether the store says that it has no room. */
export function isFull(error: unknown): boolean {
  const { code, status } = failureOf(error)
  return status === 507 || fullCodes.includes(code)
}

/** Codes that MinIO and S3 answer before they have changed anything. */
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
 * Whether the server may have carried out the request that failed, or may yet do so: it has got all of the request, and
 * its answer was lost, or comes from a proxy that has lost it, or does not say that nothing was done.
 */
export function mayBeDone(error: unknown): boolean {
  const { code, status } = failureOf(error)
  if (status < 400) return !(error instanceof Error && unsentRequests.has(error))
  return [500, 502, 503, 504].includes(status) && !notNowCodes.includes(code)
}

/** The failures of requests that were not sent to their end. */
const unsentRequests = new WeakSet<Error>()

/** Remembers that the request was not sent to its end before it failed so: no server can have carried it out. */
export function markUnsent(error: Error): Error {
  unsentRequests.add(error)
  return error
}

/** Does `work`, and says its failure in the words of the port. */
export async function translating<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw translateError(error)
  }
}

/** Whether `error` is the store's answer with one of `codes`, such as `NoSuchKey`. */
export function isAnswer(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(failureOf(error).code)
}

/** What the store or the way to it said: S3's code, or the system's; 0 where there was no HTTP status. */
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
