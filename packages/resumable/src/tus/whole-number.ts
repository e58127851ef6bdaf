import { tusProblems } from './tus-problems.ts'
import { headerOf } from '../protocol/request.ts'
import type { TusRequest } from './tus-request.ts'

/**
 * The number of bytes in a header; `undefined` without one.
 *
 * @throws HttpProblem 400 when it is no whole number, or larger than JavaScript counts
 */
export function wholeNumber(request: TusRequest, header: string): number | undefined {
  const text = headerOf(request, header)
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) {
    throw tusProblems.invalidHeader(header, 'it must be a whole number')
  }
  return number
}
