import { isFileServiceError, type ErrorCode } from '@holdfast/core'
import { ProtocolProblem } from '@holdfast/resumable'
import { HttpProblem } from './problem.ts'

interface Answer {
  readonly status: number
  /** The message for the client. Default: the error's own message. */
  readonly message?: string
}

/** The HTTP answer for each error code of the core. A new code does not compile until it has its line here. */
const answers = {
  'missing-credentials': { status: 400, message: 'No auth headers' },
  'invalid-credentials': { status: 400, message: 'Invalid credentials' },
  'too-many-attempts': { status: 429, message: 'Too many failed logins' },
  'invalid-file-name': { status: 400 },
  'not-found': { status: 400, message: 'File not found' },
  'already-exists': { status: 412, message: 'Precondition Failed' },
  'file-too-large': { status: 413, message: 'File too large' },
  'quota-exceeded': { status: 413, message: 'Quota exceeded' },
  'digest-mismatch': { status: 400, message: 'Digest mismatch' },
  'upload-not-found': { status: 404, message: 'Upload not found' },
  'upload-conflict': { status: 409, message: 'Upload conflict' },
  'insufficient-storage': { status: 507, message: 'Insufficient storage' },
  'store-unavailable': { status: 503, message: 'Storage unavailable' },
  overloaded: { status: 503, message: 'Overloaded' },
} satisfies Record<ErrorCode, Answer>

/** The code of a refusal; `unexpected` for what has none. */
export function codeOf(error: unknown): string {
  const hasCode =
    error instanceof HttpProblem || error instanceof ProtocolProblem || isFileServiceError(error)
  return hasCode ? error.code : 'unexpected'
}

/** Seconds after which a client may try again where an error does not say. */
const defaultRetryAfterSeconds = 5

/** The answer to `error`; 500 for unknown errors. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof ProtocolProblem) {
    return new HttpProblem(error.code, error.status, error.message, error.headers)
  }
  if (!isFileServiceError(error))
    return new HttpProblem('unexpected', 500, 'An unexpected error occurred')
  const { status, message = error.message }: Answer = answers[error.code]
  if (status !== 429 && status !== 503) return new HttpProblem(error.code, status, message)
  const seconds =
    error.retryAfterMs === undefined
      ? defaultRetryAfterSeconds
      : Math.max(1, Math.ceil(error.retryAfterMs / 1000))
  return new HttpProblem(error.code, status, message, { 'Retry-After': `${seconds}` })
}
