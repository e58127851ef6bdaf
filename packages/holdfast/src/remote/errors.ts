import { SetupError, carriesAdvice, messageOf } from '@holdfast/core'
import {
  concernsAllFiles,
  isHoldfastError,
  type HoldfastError,
  isTransient,
  type HoldfastErrorCode,
} from '@holdfast/client'
import { visible } from '@holdfast/server/visible'

/** Ends a client verb with an exit code. */
export class CommandError extends SetupError {
  override readonly name = 'CommandError'
  readonly exitCode: ExitCode

  constructor(
    exitCode: ExitCode,
    problem: string,
    remedies: readonly string[] = [],
    cause?: unknown,
  ) {
    super(problem, remedies, cause)
    this.exitCode = exitCode
  }
}

/** A mistake in the command line. */
export function usageError(problem: string, remedies: readonly string[] = []): CommandError {
  return new CommandError(exitCodes.usage, problem, remedies)
}

/** The exit codes of client verbs. Later versions only add codes. */
export const exitCodes = {
  /** Everything that was requested is done. */
  done: 0,
  /** Something failed for a reason without a code of its own, or for several reasons. */
  failed: 1,
  /** The command line is wrong, or names no existing command; no request was sent. */
  usage: 2,
  /** There is no login, or the server refuses it. */
  login: 3,
  /** What was named does not exist. */
  notFound: 4,
  /** The same command may succeed later: no connection, a busy server, a file that changed meanwhile. */
  retry: 5,
  /** The reader of standard output has stopped before all was done: 128 plus the number of SIGPIPE. */
  readerGone: 141,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

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
  return messageOf(error)
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

/** Whether something in front of the server refuses a request, perhaps for the name, the content or the size of one file. */
export function isRefusedOnTheWay(error: unknown): boolean {
  return isHoldfastError(error, 'unknown') && [403, 413, 431].includes(error.status)
}

/** Whether it is pointless to continue with the next file. */
export function endsTransfers(error: unknown): boolean {
  return concernsAllFiles(error) && !isRefusedOnTheWay(error)
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
