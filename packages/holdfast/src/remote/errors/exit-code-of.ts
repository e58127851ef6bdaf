import { isHoldfastError, type HoldfastErrorCode } from '@holdfast/client'
import { CommandError } from './command-error.ts'
import { exitCodes, type ExitCode } from './exit-codes.ts'

const codes: Partial<Record<HoldfastErrorCode, ExitCode>> = {
  'missing-credentials': exitCodes.login,
  'invalid-credentials': exitCodes.login,
  'not-found': exitCodes.notFound,
  'no-files-yet': exitCodes.notFound,
  'no-answer': exitCodes.retry,
  'changed-meanwhile': exitCodes.retry,
  'precondition-failed': exitCodes.retry,
}

/** Responses after which the same request may succeed. */
const passingStatuses = [408, 409, 429, 502, 503, 504]

/** The exit code of a command that failed with `error`, and with nothing else. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  if (isHoldfastError(error)) {
    return (
      codes[error.code] ??
      (passingStatuses.includes(error.status) ? exitCodes.retry : exitCodes.failed)
    )
  }
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
    return exitCodes.notFound
  }
  return exitCodes.failed
}
