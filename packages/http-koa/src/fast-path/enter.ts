import type { ServerResponse } from 'node:http'
import type { CustomerFiles } from '@holdfast/core'
import type { Route } from '../exchange/answered-request.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { logIn, type Authenticate } from '../middleware/authenticate.ts'
import type { TakePlace } from '../middleware/limit-requests.ts'
import type { Reporter } from '../middleware/report-requests.ts'
import { requestIdOf } from '../middleware/request-id.ts'

/**
 * Answers a request on the shortest way there is. `undefined` where the request is none of its kind; resolves with `false`
 * where that shows later, and rejects where the request is refused. The application answers then; it finds what was done in
 * the exchange, and the refusals are its own.
 */
export type FastPath = (exchange: Exchange) => Promise<boolean> | undefined

/** A request that has been let in. */
export interface Entry {
  readonly response: ServerResponse
  readonly requestId: string
  readonly files: CustomerFiles
  /** Gives its place among the requests under way back. */
  readonly leave: () => void
}

/** Takes the steps that come before each route, as the middleware of the application does. */
export type Enter = (exchange: Exchange, route: Route) => Promise<Entry>

/** Makes the {@link Enter} that logs in by `authenticate`, takes a place by `takePlace` and has the request reported. */
export function createEnter(
  authenticate: Authenticate,
  takePlace: TakePlace,
  report: Reporter,
): Enter {
  return async (exchange, route) => {
    const { request, response, state } = exchange
    const requestId = requestIdOf(request)
    state.requestId = requestId
    state.route = route
    report(exchange, () => request.url)
    const files = await logIn(exchange, authenticate)
    const leave = takePlace(files.customer.name)
    state.files = files
    return { response, requestId, files, leave }
  }
}
