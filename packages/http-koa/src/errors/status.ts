import { isFileServiceError } from '@holdfast/core'
import { errorAnswer, HttpProblem } from '@holdfast/resumable'

/** The code of a refusal; `unexpected` for what has none. */
export function codeOf(error: unknown): string {
  return error instanceof HttpProblem || isFileServiceError(error) ? error.code : 'unexpected'
}

/** The answer to `error`; 500 for unknown errors. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (!isFileServiceError(error))
    return new HttpProblem('unexpected', 500, 'An unexpected error occurred')
  const { status, message, headers } = errorAnswer(error)
  return new HttpProblem(error.code, status, message, headers)
}
