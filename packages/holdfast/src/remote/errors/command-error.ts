import { SetupError } from '@holdfast/core'
import { exitCodes, type ExitCode } from './exit-codes.ts'

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
