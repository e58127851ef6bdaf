import {
  type UploadContent,
  requireText,
  type ErrorCode,
  type FileServiceError,
} from '@holdfast/core'
import type * as Http from 'node:http'
import { createRequire } from 'node:module'

/** The headers of a request by their names in lower case, as in Node; values of a header that was sent twice are joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The fields of a request that every protocol needs, independent of the server that received it. */
export interface ProtocolRequest {
  readonly headers: RequestHeaders
  /** The body. Called at most once, right before it is read. If the body is incomplete, reading it throws and does not end. */
  content(): UploadContent
  /** Called with each chunk of the body that the store no longer needs. Default: none. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
}

/** The value of a header, without the spaces around it; `undefined` if it is missing. */
export function headerOf({ headers }: Pick<ProtocolRequest, 'headers'>, name: string) {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.join(', '))?.trim()
}

type Head = Pick<ProtocolRequest, 'headers'>

/** Whether `Content-Type` has the media type `expected`, with any parameters. */
export function isOfType(request: Head, expected: string): boolean {
  return headerOf(request, 'content-type')?.split(';')[0]?.trim().toLowerCase() === expected
}

/** Whether the request has a body, which may be empty if its length is not announced. */
export function hasBody(request: Head): boolean {
  return headerOf(request, 'transfer-encoding') !== undefined || (announcedSize(request) ?? 0) > 0
}

/** How many bytes `Content-Length` announces; `undefined` if it is missing. */
export function announcedSize(request: Head): number | undefined {
  const length = headerOf(request, 'content-length')
  return length === undefined ? undefined : Number(length)
}

/**
 * Refuses a value that cannot be the first part of a path; `what` is the option's name, such as `prefix`. The empty text is allowed.
 *
 * @throws TypeError for another type; RangeError for a text that does not begin with a slash, or ends with one
 */
export function requirePath(what: string, value: unknown): void {
  requireText(what, value)
  const text = String(value)
  if (text === '' || /^\/.*[^/]$/s.test(text)) return
  throw new RangeError(
    `${what} must begin with a slash and not end with one, such as "/files", not ${JSON.stringify(text)}`,
  )
}

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
