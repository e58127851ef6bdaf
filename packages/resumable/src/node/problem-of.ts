import { isFileServiceError, type ErrorCode } from '@holdfast/core'

/** What a client learns of an error. */
export interface Problem {
  readonly status: number
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

/** The status of each error code of the core. */
const statuses = {
  'missing-credentials': 400,
  'invalid-credentials': 400,
  'too-many-attempts': 429,
  'invalid-file-name': 400,
  'not-found': 400,
  'already-exists': 412,
  'file-too-large': 413,
  'quota-exceeded': 413,
  'digest-mismatch': 400,
  'upload-not-found': 404,
  'upload-conflict': 409,
  'insufficient-storage': 507,
  'store-unavailable': 503,
  overloaded: 503,
} satisfies Record<ErrorCode, number>

/** The answer to `error`: 500 unless it is one of the core's, or says by `status` that the client is to blame. */
export function problemOf(error: unknown): Problem {
  if (isFileServiceError(error)) return coreProblem(statuses[error.code], error)
  if (error instanceof Error && 'status' in error && isRefusal(error.status)) {
    return { status: error.status, message: error.message, headers: headersOf(error) }
  }
  return { status: 500, message: 'An unexpected error occurred', headers: {} }
}

function coreProblem(
  status: number,
  error: Error & { readonly retryAfterMs: number | undefined },
): Problem {
  // Messages about the store are for its operator.
  const message = status < 500 ? error.message : (texts[status] ?? '')
  if (status !== 429 && status !== 503) return { status, message, headers: {} }
  const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 5000) / 1000))
  return { status, message, headers: { 'Retry-After': String(seconds) } }
}

const texts: Readonly<Record<number, string>> = {
  503: 'Storage unavailable',
  507: 'Insufficient storage',
}

function isRefusal(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 500
}

function headersOf(error: Error): Readonly<Record<string, string>> {
  const headers: unknown = 'headers' in error ? error.headers : undefined
  const entries = typeof headers === 'object' && headers !== null ? Object.entries(headers) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}
