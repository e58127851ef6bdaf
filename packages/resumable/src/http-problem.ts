import type * as Http from 'node:http'
import { createRequire } from 'node:module'
import type { ErrorCode, FileServiceError } from '@holdfast/core'

/**
 * A refusal that only HTTP knows: because of a mistake in the request itself, or of its preconditions. If it reaches Koa or Express,
 * they answer with its `status` and `headers`, too.
 */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  /** What is wrong, for programs that read the audit trail. Stable, unlike the message. */
  readonly code: string
  readonly status: number
  /** Headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the message is for the client and not for the log; Koa and others read this field. */
  readonly expose: boolean

  constructor(
    code: string,
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.headers = headers
    this.expose = status < 500
  }
}

// With `import`, Node would read all exports of the module, and some of them load `fetch`.
const { STATUS_CODES } = createRequire(import.meta.url)('node:http') as typeof Http

/** The text of a status, by RFC 9110 and related RFCs, or by tus. */
export function statusText(status: number): string {
  return status === 460 ? 'Checksum Mismatch' : (STATUS_CODES[status] ?? 'Error')
}

/** The HTTP answer to an error. */
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

/** Statuses and messages of docs/api.md. A new code of the core does not compile until it has a line here. */
const answers = {
  'missing-credentials': { status: 400, message: 'No auth headers' },
  'invalid-credentials': { status: 400, message: 'Invalid credentials' },
  'too-many-attempts': { status: 429, message: 'Too many failed logins' },
  'not-allowed': { status: 403 },
  'link-refused': { status: 403, message: 'The link is wrong, or has expired' },
  'invalid-file-name': { status: 400 },
  'not-found': { status: 400, message: 'File not found' },
  'version-not-found': { status: 404, message: 'Version not found' },
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

/** After how many milliseconds a client may retry, if the error does not say. */
const defaultRetryAfterMs = 5_000

/** The answer to an error of the core. It is the same for all protocols. */
export function errorAnswer(error: FileServiceError): ErrorAnswer {
  const { status, message = error.message }: Answer = answers[error.code]
  if (status !== 429 && status !== 503) return { status, message, headers: {} }
  const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? defaultRetryAfterMs) / 1000))
  return { status, message, headers: { 'Retry-After': String(seconds) } }
}
