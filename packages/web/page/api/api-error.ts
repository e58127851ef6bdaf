/** A request that failed: with a status other than 2xx, or with status 0, without an answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** When to try again, in seconds, where the server says so. */
  readonly retryAfter: number | undefined

  constructor(status: number, message: string, retryAfter?: number) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** The line broke, or there is no server. */
export const unreachable = () => new ApiError(0, 'No answer')

/** Whether the name or the password was refused. */
export function isRefusedLogin(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.status === 400 && /^(Invalid credentials|No auth headers)$/.test(error.message)
}

/**
 * Whether the same request may succeed later without anybody changing anything. A conflict of offsets is one: browsers themselves
 * repeat a request whose connection was reset, from the beginning, and the server keeps more by then.
 */
export function isTransient({ status }: ApiError): boolean {
  return (
    status === 0 ||
    status === 409 ||
    status === 423 ||
    status === 429 ||
    status === 502 ||
    status === 503 ||
    status === 504
  )
}

/** Reads an error's JSON, as every route answers it. */
export function apiErrorOf(status: number, body: string, retryAfter: string | null): ApiError {
  const seconds = Number(retryAfter ?? NaN)
  return new ApiError(status, messageOf(body), Number.isFinite(seconds) ? seconds : undefined)
}

function messageOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed === 'object' && parsed !== null && 'message' in parsed)
      return String(parsed.message)
  } catch {
    // A proxy answers in words of its own.
  }
  return body.slice(0, 200)
}
