import type { ErrorCode, FileServiceError } from '@holdfast/core'

/** What HTTP answers to an error. */
export interface ErrorAnswer {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  /** The message for the client. Default: the error's own message. */
  readonly message?: string
}

/** Statuses and wordings of docs/api.md. A new code of the core does not compile until it has its line here. */
const answers = {
  'missing-credentials': { status: 400, message: 'No auth headers' },
  'invalid-credentials': { status: 400, message: 'Invalid credentials' },
  'too-many-attempts': { status: 429, message: 'Too many failed logins' },
  'link-refused': { status: 403, message: 'The link is wrong, or has expired' },
  'invalid-file-name': { status: 400 },
  'not-found': { status: 400, message: 'File not found' },
  'already-exists': { status: 412, message: 'Precondition Failed' },
  'file-too-large': { status: 413, message: 'File too large' },
  'quota-exceeded': { status: 413 },
  'digest-mismatch': { status: 400, message: 'Digest mismatch' },
  'upload-not-found': { status: 404, message: 'Upload not found' },
  'upload-conflict': { status: 409, message: 'Upload conflict' },
  'insufficient-storage': { status: 507, message: 'Insufficient storage' },
  'store-unavailable': { status: 503, message: 'Storage unavailable' },
  overloaded: { status: 503, message: 'Overloaded' },
} satisfies Record<ErrorCode, Answer>

/** After how many milliseconds a client may try again where an error does not say. */
const defaultRetryAfterMs = 5_000

/** The answer to an error of the core, the same for all of its servers. */
export function errorAnswer(error: FileServiceError): ErrorAnswer {
  const { status, message = error.message }: Answer = answers[error.code]
  if (status !== 429 && status !== 503) return { status, message, headers: {} }
  const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? defaultRetryAfterMs) / 1000))
  return { status, message, headers: { 'Retry-After': String(seconds) } }
}
