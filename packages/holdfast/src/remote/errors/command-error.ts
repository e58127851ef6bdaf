import { SetupError } from '@holdfast/core'

/** What ends a client verb, with the exit code that says so. */
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

/** What the exit code of a client verb says. Codes are only ever added. */
export const exitCodes = {
  /** Everything that was asked for is done. */
  done: 0,
  /** Something was not done, for a reason that has no code of its own, or for several reasons. */
  failed: 1,
  /** The command line is wrong, or has no command that there is; nothing was asked of the server. */
  usage: 2,
  /** There is no login, or the server does not take it. */
  login: 3,
  /** What was named does not exist. */
  notFound: 4,
  /** The same command may succeed later: no connection, a busy server, a file that changed meanwhile. */
  retry: 5,
  /** The reader of standard output has stopped before all was done: 128, and the number of SIGPIPE. */
  readerGone: 141,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]
