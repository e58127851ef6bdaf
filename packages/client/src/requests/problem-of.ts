import { problems, type ProblemCode } from '../api/description.ts'
import type { TransportResponse } from '../transport/transport.ts'
import { HoldfastError, type HoldfastErrorCode } from '../errors/holdfast-error.ts'
import { startOf } from './start-of.ts'

/** The error that a response with another status than 2xx is. */
export async function problemOf(
  response: TransportResponse,
  method: string,
): Promise<HoldfastError> {
  const { status } = response
  const body = await startOf(response.body).catch(() => '')
  const message = messageOf(body)
  const seconds = Number(response.header('retry-after') ?? NaN)
  return new HoldfastError(
    message === undefined ? 'unknown' : codeOf(status, message, method),
    message ?? `The server answered ${status}${body === '' ? '' : `: ${body.slice(0, 200)}`}`,
    {
      status,
      retryAfter: Number.isFinite(seconds) ? seconds : undefined,
      requestId: response.header('x-request-id'),
    },
  )
}

/** The code of an error of the API. */
export function codeOf(status: number, message: string, method: string): HoldfastErrorCode {
  const [found] = Object.entries(problems).filter(
    ([code, problem]) =>
      problem.status === status &&
      new RegExp(problem.message).test(message) &&
      // Uploads and downloads have the same words for a condition that does not hold.
      code !== (method === 'GET' ? 'already-exists' : 'precondition-failed'),
  )
  return (found?.[0] as ProblemCode | undefined) ?? 'unknown'
}

function messageOf(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed !== 'object' || parsed === null || !('message' in parsed)) return undefined
    return typeof parsed.message === 'string' ? parsed.message : undefined
  } catch {
    // A proxy answers in words of its own.
    return undefined
  }
}
