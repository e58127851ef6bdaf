import { isFileServiceError } from '@holdfast/core'
import type { HttpProblem } from '@holdfast/resumable'

/** Where lines for the operator go; a pino logger is one. `fields` never hold a credential. */
export interface HttpLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The log where an application gives none: faults go to `console.error`, since no answer has their cause. The rest is dropped. */
export const consoleLog: HttpLog = {
  info() {},
  warn() {},
  error: (fields, message) => console.error(message, fields),
}

/** Statuses of faults on our side: the operator needs the cause, which the client does not get. */
const faults: readonly number[] = [500, 503, 507]

/** Logs the cause of an answer that is our fault, with the id that the client got. */
export function logFault(
  log: HttpLog,
  { requestId }: { readonly requestId?: string | undefined },
  error: unknown,
  { status, message }: HttpProblem,
): void {
  // A refusal of excess requests is no fault, and a line with a stack for each would add to the load.
  if (isFileServiceError(error, 'overloaded')) return
  if (faults.includes(status)) log.error({ requestId, err: error }, message)
}
