import { carriesAdvice } from '@holdfast/core'
import {
  isHoldfastError,
  type HoldfastError,
  isTransient,
  type HoldfastErrorCode,
} from '@holdfast/client'
import { visible } from '@holdfast/server/visible'
import { CommandError, exitCodes, type ExitCode } from './command-error.ts'

/** Makes the error that ends a command: `problem` was caused by `error`. It says what to do. */
export function explain(error: HoldfastError, problem: string): CommandError {
  const code = exitCodeOf(error)
  const remedies = code === exitCodes.login ? ['Check the name and the password.'] : []
  return new CommandError(code, `${problem}: ${visible(reasonOf(error))}`, remedies, error)
}

/** Why something failed with the file `name`, as one line for people. */
export function reasonOf(error: unknown, name?: string): string {
  if (isHoldfastError(error, 'already-exists')) return 'There is a file of this name on the server'
  if (isHoldfastError(error, 'precondition-failed')) {
    return 'The file was replaced on the server meanwhile'
  }
  if (isHoldfastError(error, 'unknown-path')) {
    return `There is no holdfast at this address, or an older one: ${error.message}`
  }
  if (isHoldfastError(error)) {
    const { message, requestId } = error
    return error.code === 'unexpected' && requestId !== undefined
      ? `${message} (request ${requestId})`
      : message
  }
  if (carriesAdvice(error)) return error.message
  if (isSystemError(error)) return systemReason(error, name)
  return error instanceof Error ? error.message : String(error)
}

/** Whether `error` is an error of the file system as Node makes it: `ENOENT: no such file or directory, open 'x'`. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

function systemReason({ message, path }: NodeJS.ErrnoException, name: string | undefined): string {
  const [, reason = message] = /^[A-Z]\w*: ([^,]+), /.exec(message) ?? []
  const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
  return path === undefined || path === name ? sentence : `${sentence}: ${path}`
}

const codes: Partial<Record<HoldfastErrorCode, ExitCode>> = {
  'missing-credentials': exitCodes.login,
  'invalid-credentials': exitCodes.login,
  'not-found': exitCodes.notFound,
  'unknown-file': exitCodes.notFound,
  'version-not-found': exitCodes.notFound,
  'no-files-yet': exitCodes.notFound,
  'changed-meanwhile': exitCodes.retry,
  'precondition-failed': exitCodes.retry,
}

/** The exit code of a command whose only failure is `error`. */
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
