import { HoldfastError, type HoldfastErrorCode } from '@holdfast/client/browser'

/** The line broke, or there is no server. */
export const unreachable = (cause?: unknown) =>
  new HoldfastError('no-answer', 'No answer', { cause })

/** What an answer that is no success says; its body is the JSON of an error. */
export function linkError(status: number, body: string, retryAfter: string | null): HoldfastError {
  const seconds = Number(retryAfter ?? NaN)
  const message = messageOf(body)
  return new HoldfastError(codeOf(status, message), message, {
    status,
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
  })
}

function codeOf(status: number, message: string): HoldfastErrorCode {
  if (status === 403) return 'link-refused'
  if (status === 413) return message === 'Quota exceeded' ? 'quota-exceeded' : 'file-too-large'
  return message.startsWith('Invalid filename') ? 'invalid-file-name' : 'unknown'
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
