import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { isFileServiceError, type ErrorCode } from '@holdfast/core'

/** The HTTP status of each error code of the core. A missing code does not compile; `scripts/test --all` compiles this. */
const statuses = {
  'missing-credentials': 401,
  'invalid-credentials': 401,
  'too-many-attempts': 429,
  'link-refused': 403,
  'invalid-file-name': 400,
  'not-allowed': 403,
  'not-found': 404,
  'already-exists': 412,
  'file-too-large': 413,
  'quota-exceeded': 413,
  'digest-mismatch': 400,
  'version-not-found': 404,
  'upload-not-found': 404,
  'upload-conflict': 409,
  'insufficient-storage': 507,
  'store-unavailable': 503,
  overloaded: 503,
} satisfies Record<ErrorCode, number>

/** A refusal of our own. */
export class HttpError extends Error {
  readonly status: number
  readonly headers: OutgoingHttpHeaders

  constructor(status: number, message: string, headers: OutgoingHttpHeaders = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** Answers with what went wrong, as far as it is the client's business. */
export function answerFailure(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  // Who has left needs no answer; whose answer has begun must not take a part for the whole.
  if (response.headersSent || request.socket.destroyed) {
    request.socket.destroy()
    return
  }
  const { status, message, headers } = answerTo(error)
  if (status === 500) console.error(error)
  const text = JSON.stringify({ message })
  response.writeHead(status, {
    ...headers,
    // Who has asked before sending may send or not, so what comes next could be either.
    ...(request.headers.expect === undefined ? {} : { Connection: 'close' }),
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
  // A client that is still sending reads the answer only after it could finish.
  request.resume()
}

function answerTo(error: unknown): Pick<HttpError, 'status' | 'message' | 'headers'> {
  if (error instanceof HttpError) return error
  if (!isFileServiceError(error)) return { status: 500, message: 'It is our fault', headers: {} }
  const { retryAfterMs } = error
  const headers =
    retryAfterMs === undefined ? {} : { 'Retry-After': `${Math.ceil(retryAfterMs / 1000)}` }
  return { status: statuses[error.code], message: error.message, headers }
}
