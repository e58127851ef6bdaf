import { isFileServiceError } from '@holdfast/core'
import { errorAnswer, ProtocolProblem } from '@holdfast/resumable'
import { HttpProblem } from './problem.ts'

/** The code of a refusal; `unexpected` for what has none. */
export function codeOf(error: unknown): string {
  const hasCode =
    error instanceof HttpProblem || error instanceof ProtocolProblem || isFileServiceError(error)
  return hasCode ? error.code : 'unexpected'
}

/** The answer to `error`; 500 for unknown errors. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof ProtocolProblem) {
    return new HttpProblem(error.code, error.status, error.message, error.headers)
  }
  if (!isFileServiceError(error))
    return new HttpProblem('unexpected', 500, 'An unexpected error occurred')
  const { status, message, headers } = errorAnswer(error)
  return new HttpProblem(error.code, status, message, headers)
}
