import { isHoldfastError, isTransient, type HoldfastErrorCode } from '@holdfast/client'
import { CommandError } from './command-error.ts'
import { exitCodes, type ExitCode } from './exit-codes.ts'

const codes: Partial<Record<HoldfastErrorCode, ExitCode>> = {
  'missing-credentials': exitCodes.login,
  'invalid-credentials': exitCodes.login,
  'not-found': exitCodes.notFound,
  'no-files-yet': exitCodes.notFound,
  'changed-meanwhile': exitCodes.retry,
  'precondition-failed': exitCodes.retry,
}

/** The exit code of a command that failed with `error`, and with nothing else. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  if (isHoldfastError(error)) {
    return codes[error.code] ?? (isTransient(error) ? exitCodes.retry : exitCodes.failed)
  }
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
    return exitCodes.notFound
  }
  return exitCodes.failed
}
