import { problems } from './problems.ts'

/** The value of a parameter. @throws HttpProblem 400 when it is sent twice */
export function soleParameter(query: URLSearchParams, parameter: string): string | undefined {
  const values = query.getAll(parameter)
  if (values.length > 1) throw problems.invalidQuery(parameter, 'it is sent twice')
  return values[0]
}

/** The value of `limit`. @throws HttpProblem 400 when it is sent twice, or is not a whole number from 1 */
export function parseLimit(query: URLSearchParams): number | undefined {
  const text = soleParameter(query, 'limit')
  if (text === undefined) return undefined
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1 || !Number.isSafeInteger(limit)) {
    throw problems.invalidQuery('limit', 'it must be a whole number from 1')
  }
  return limit
}
