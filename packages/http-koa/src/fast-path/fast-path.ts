import type { AuditRecorder } from '../audit/audit-recorder.ts'
import type { Authenticate } from '../middleware/authenticate.ts'
import type { TakePlace } from '../middleware/limit-requests.ts'
import type { Reporter } from '../middleware/report-requests.ts'
import { createEnter, type FastPath } from './enter.ts'
import { createFastChange } from './fast-change.ts'
import { createFastServe } from './fast-serve.ts'

/** What the fast paths share with the routes. */
export interface FastPathSetup {
  readonly prefix: string
  readonly authenticate: Authenticate
  readonly takePlace: TakePlace
  readonly recorder: AuditRecorder
  /** What answers to other origins need, which the fast path does not know. */
  readonly cors: unknown
}

/** The fast paths of the routes: downloads, uploads and deletions of small files. Other requests are left to the application. */
export function createFastPath(
  { prefix, authenticate, takePlace, recorder, cors }: FastPathSetup,
  report: Reporter,
): FastPath {
  const enter = createEnter(authenticate, takePlace, report)
  const serve = createFastServe(prefix, enter)
  const change = createFastChange(prefix, enter, recorder)
  return (exchange) => {
    const { method, httpVersion } = exchange.request
    if (httpVersion !== '1.1' || cors !== undefined) return undefined
    const attempt = method === 'GET' ? serve(exchange) : change(exchange)
    // Where it fails, the application finds the same error and answers it.
    return attempt?.catch(() => false)
  }
}
