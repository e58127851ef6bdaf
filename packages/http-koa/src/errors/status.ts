import { isFileServiceError } from '@holdfast/core'
import { errorAnswer, HttpProblem } from '@holdfast/resumable'
import { multerProblem } from './multer-problem.ts'

/** The code of a refusal; `unexpected` for what has none. */
export function codeOf(error: unknown): string {
  if (error instanceof HttpProblem || isFileServiceError(error)) return error.code
  return multerProblem(error)?.code ?? 'unexpected'
}

/** The answer to `error`, also to what multer refuses; 500 for unknown errors. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (!isFileServiceError(error))
    return (
      multerProblem(error) ?? new HttpProblem('unexpected', 500, 'An unexpected error occurred')
    )
  const { status, message, headers } = errorAnswer(error)
  return new HttpProblem(error.code, status, message, headers)
}
