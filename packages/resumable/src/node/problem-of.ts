import { isFileServiceError } from '@holdfast/core'
import { errorAnswer, type ErrorAnswer } from '../protocol/error-answer.ts'

/** The answer to `error`: 500 unless it is one of the core's, or says by `status` that the client is to blame. */
export function problemOf(error: unknown): ErrorAnswer {
  if (isFileServiceError(error)) return errorAnswer(error)
  if (error instanceof Error && 'status' in error && isRefusal(error.status)) {
    return { status: error.status, message: error.message, headers: headersOf(error) }
  }
  return { status: 500, message: 'An unexpected error occurred', headers: {} }
}

function isRefusal(status: unknown): status is number {
  return typeof status === 'number' && status >= 400 && status < 500
}

function headersOf(error: Error): Readonly<Record<string, string>> {
  const headers: unknown = 'headers' in error ? error.headers : undefined
  const entries = typeof headers === 'object' && headers !== null ? Object.entries(headers) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}
