import { SetupError } from '@holdfast/core'

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
