import type { ListOptions } from '@holdfast/core'
import { problems } from '../errors/problem.ts'

/** What a query string asks of a list. */
export interface ListQuery extends ListOptions {
  /** Whether the list has what is known of each file, not only its name. */
  readonly details: boolean
}

/**
 * Reads `limit`, `after`, `prefix` and `details` in a query string. An empty `after` or `prefix` is given as well:
 * paging begins with one. Unknown parameters are passed over.
 *
 * @throws HttpProblem 400 when a parameter is sent twice, `limit` is not a whole number from 1, or `details` is not 1
 */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const sole = (parameter: string): string | undefined => {
    const values = query.getAll(parameter)
    if (values.length > 1) throw problems.invalidQuery(parameter, 'it is sent twice')
    return values[0]
  }
  const limit = sole('limit')
  const after = sole('after')
  const prefix = sole('prefix')
  const details = sole('details')
  if (details !== undefined && details !== '1')
    throw problems.invalidQuery('details', 'it must be 1')
  return {
    details: details !== undefined,
    ...(query.has('limit') && { limit: parseLimit(limit) }),
    ...(after !== undefined && { after }),
    ...(prefix !== undefined && { prefix }),
  }
}

function parseLimit(text = ''): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1 || !Number.isSafeInteger(limit)) {
    throw problems.invalidQuery('limit', 'it must be a whole number from 1')
  }
  return limit
}
