import type { IncomingHttpHeaders } from 'node:http'
import { problems } from '../errors/problem.ts'

/**
 * Whether the request asks to create and never to replace: `If-None-Match: *` (RFC 9110 §13.1.2).
 *
 * @throws HttpProblem 400 for a precondition that uploads do not know. To ignore one would be to replace what the
 *   client wanted kept.
 */
export function isCreateOnly(headers: IncomingHttpHeaders): boolean {
  for (const name of ['if-match', 'if-unmodified-since'] as const) {
    if (headers[name] !== undefined) {
      throw problems.invalidHeader(name, 'an upload knows only "If-None-Match: *"')
    }
  }
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  throw problems.invalidHeader('if-none-match', 'an upload knows only "*"')
}

/**
 * Lets a deletion pass that is asked for without a condition.
 *
 * @throws HttpProblem 400 for a precondition: to ignore it would be to delete what the client wanted kept, and to look first
 *   leaves time for another upload.
 */
export function refuseConditions(headers: IncomingHttpHeaders): void {
  for (const name of ['if-match', 'if-none-match', 'if-unmodified-since'] as const) {
    if (headers[name] !== undefined) {
      throw problems.invalidHeader(name, 'a deletion knows no condition')
    }
  }
}
