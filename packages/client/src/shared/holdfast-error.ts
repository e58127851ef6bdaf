import type { ProblemCode } from '../api/description.ts'

/**
 * - A code of the API: the name of the error's schema in its description (docs/openapi.yaml).
 * - `no-answer`: the connection could not be made, broke, or stood still for too long. What was asked for may have happened.
 * - `not-secure`: TLS is not possible as it is: a certificate that is not trusted, or a port that speaks none. Nothing was sent.
 * - `changed-meanwhile`: the file that was to be sent is another one than when it was opened.
 * - `unknown`: an answer that is not the API's, such as a proxy's, or that of no holdfast at all.
 */
export type HoldfastErrorCode =
  | ProblemCode
  | 'no-answer'
  | 'not-secure'
  | 'changed-meanwhile'
  | 'unknown'

/** Why something was not done. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError'
  readonly code: HoldfastErrorCode
  /** The status of HTTP; 0 without an answer. */
  readonly status: number
  /** In how many seconds to try again, where the server says so. */
  readonly retryAfter: number | undefined
  /** The request's name in the server's log. */
  readonly requestId: string | undefined

  constructor(code: HoldfastErrorCode, message: string, details: HoldfastErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = details.status ?? 0
    this.retryAfter = details.retryAfter
    this.requestId = details.requestId
  }
}

export interface HoldfastErrorDetails {
  readonly status?: number
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

export function isHoldfastError(
  error: unknown,
  ...codes: readonly HoldfastErrorCode[]
): error is HoldfastError {
  return error instanceof HoldfastError && (codes.length === 0 || codes.includes(error.code))
}

/**
 * Whether an error that came of one file says nothing of that file, so that to go on with the next one is pointless: the server cannot be
 * reached, is no holdfast, is overloaded or without its store, or does not take the login.
 */
export function concernsAllFiles(error: unknown): boolean {
  return isHoldfastError(
    error,
    'no-answer',
    'not-secure',
    'unknown',
    'missing-credentials',
    'invalid-credentials',
    'too-many-attempts',
    'overloaded',
    'store-unavailable',
  )
}

/**
 * Whether it is certain that nothing was stored. Otherwise a second request could find the name taken by the first one's file,
 * and nothing would say whose it is.
 */
export function hasStoredNothing(error: unknown): boolean {
  if (isHoldfastError(error, 'overloaded', 'too-many-attempts')) return true
  const { cause } = error as Error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(code))
}

/** Whether it may be the size of the piece that something before the server did not take. */
export function mayBeTooLarge(error: unknown): boolean {
  return (
    isHoldfastError(error, 'no-answer') ||
    (isHoldfastError(error, 'unknown') && error.status === 413)
  )
}
