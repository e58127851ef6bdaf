/**
 * The codes of all errors that the service makes. Codes are stable; messages are for people and may change.
 *
 * - `missing-credentials`: a name or a password was not given, or was empty.
 * - `invalid-credentials`: unknown customer or wrong password; the error does not reveal which of the two.
 * - `too-many-attempts`: the brake on bad logins or wrong links refuses the attempt; `retryAfterMs` says for how long.
 * - `not-allowed`: the login lacks rights; the message names them.
 * - `link-refused`: a link is wrong, is for another name, or has expired; the error does not reveal which of these.
 * - `invalid-file-name`: the name breaks the policy in `model/file-name.ts`.
 * - `not-found`: the customer has no file of that name.
 * - `version-not-found`: no earlier version of the file is kept, or not the one that was asked for.
 * - `already-exists`: a file has the name of a create-only upload already.
 * - `file-too-large`: the file has more bytes than `maxFileSize`.
 * - `quota-exceeded`: the customer would keep more bytes than `quota`, or more files than `maxFiles`, or has `maxUnfinishedUploads`
 *   already. The message says which of these, with the numbers, but not to the user of a link.
 * - `digest-mismatch`: the content does not match the client's digest.
 * - `upload-not-found`: the customer has no unfinished upload of that id, or it has expired.
 * - `upload-conflict`: an unfinished upload is not in the state that the caller expects, or others are writing it.
 * - `insufficient-storage`: the store is full.
 * - `store-unavailable`: the store cannot be reached, or not in time.
 * - `overloaded`: too much is under way already; `retryAfterMs` says when to retry.
 */
export const errorCodes = [
  'missing-credentials',
  'invalid-credentials',
  'too-many-attempts',
  'not-allowed',
  'link-refused',
  'invalid-file-name',
  'not-found',
  'version-not-found',
  'already-exists',
  'file-too-large',
  'quota-exceeded',
  'digest-mismatch',
  'upload-not-found',
  'upload-conflict',
  'insufficient-storage',
  'store-unavailable',
  'overloaded',
] as const

/** One of {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[number]

export interface FileServiceErrorOptions {
  readonly cause?: unknown
  /** After how many milliseconds a retry makes sense. */
  readonly retryAfterMs?: number
}

/** The one error class of the service. Act on `code`, never on the message. */
export class FileServiceError extends Error {
  override readonly name = 'FileServiceError'
  readonly code: ErrorCode
  /** After how many milliseconds a retry makes sense; only with `too-many-attempts` and `overloaded`. */
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, options: FileServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryAfterMs = options.retryAfterMs
  }
}

/** The error of a create-only upload, rename or restore whose name is taken. `cause`: the error of the store that says so. */
export function nameTaken(cause?: unknown): FileServiceError {
  return new FileServiceError('already-exists', 'The name is taken', { cause })
}

/**
 * Whether `error` is a {@link FileServiceError}, and has the `code` if one is given. It checks the shape and not the class, since
 * two copies of this package may be installed.
 */
export function isFileServiceError(error: unknown, code?: ErrorCode): error is FileServiceError {
  return (
    error instanceof Error &&
    error.name === 'FileServiceError' &&
    'code' in error &&
    (code === undefined || error.code === code)
  )
}
