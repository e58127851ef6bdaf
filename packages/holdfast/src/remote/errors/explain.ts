import { carriesAdvice } from '@holdfast/core'
import { isHoldfastError, type HoldfastError } from '@holdfast/client'
import { CommandError } from './command-error.ts'
import { exitCodeOf } from './exit-code-of.ts'
import { exitCodes } from './exit-codes.ts'

/** The error that ends a command since `problem` has the cause `error`, with what to do. */
export function explain(error: HoldfastError, problem: string): CommandError {
  const code = exitCodeOf(error)
  const remedies = code === exitCodes.login ? ['Check the name and the password.'] : []
  return new CommandError(code, `${problem}: ${reasonOf(error)}`, remedies, error)
}

/** Why something failed, in a line for people. */
export function reasonOf(error: unknown): string {
  if (isHoldfastError(error)) {
    const { message, requestId } = error
    return error.code === 'unexpected' && requestId !== undefined
      ? `${message} (request ${requestId})`
      : message
  }
  if (carriesAdvice(error)) return error.message
  return error instanceof Error ? error.message : String(error)
}
