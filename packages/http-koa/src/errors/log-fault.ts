import { isFileServiceError } from '@holdfast/core'
import type { HttpLog } from './log.ts'
import type { HttpProblem } from './problem.ts'

/** Statuses that tell of trouble on our side; the operator wants the cause, which the client does not get. */
const faults: readonly number[] = [500, 503, 507]

/** Logs the cause of an answer that is our fault, with the id that the client got. */
export function logFault(
  log: HttpLog,
  { requestId }: { readonly requestId?: string | undefined },
  error: unknown,
  { status, message }: HttpProblem,
): void {
  // Refusing what is too much is no trouble, and a line with a stack for each would be more of it.
  if (isFileServiceError(error, 'overloaded')) return
  if (faults.includes(status)) log.error({ requestId, err: error }, message)
}
