import type { IncomingMessage } from 'node:http'
import { problems } from '../../errors/problem.ts'

/** RFC 2046 §5.1.1. A long boundary full of repetitions slows the parser tenfold. In characters. */
const maxBoundaryLength = 70

const formData = /^multipart\/form-data[ \t]*(?:;|$)/i
const boundaryParameter = /;[ \t]*boundary=(?:"([^"]*)"|([^;\s]*))/i

/**
 * Checks that the request's body is a form that can be parsed.
 *
 * @throws HttpProblem 400 `No file` for another type or no body at all; `Malformed multipart body` where the boundary
 *   is missing or breaks RFC 2046
 */
export function checkFormType(request: IncomingMessage): void {
  const type = request.headers['content-type'] ?? ''
  if (!formData.test(type) || !hasBody(request)) throw problems.noFile()
  const match = boundaryParameter.exec(type)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  if (boundary === '' || boundary.length > maxBoundaryLength) throw problems.malformedMultipart()
}

/** RFC 9112 §6.3: a request without a length and without chunks has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
