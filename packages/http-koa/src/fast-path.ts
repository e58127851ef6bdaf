import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenBlob } from '@holdfast/core'
import type { HoldfastState } from './holdfast-state.ts'
import { isConditional } from './http/conditional.ts'
import { endOfTurn } from './http/end-of-turn.ts'
import {
  contentHeaders,
  isPlainName,
  plainDisposition,
  validatorHeaders,
} from './http/file-headers.ts'
import { knownMediaType } from './http/media-type.ts'
import { onAnswerEnd } from './http/on-answer-end.ts'
import { leaveOpened } from './http/opened-file.ts'
import { step } from './http/step.ts'
import type { Authenticate } from './middleware/authenticate.ts'
import { requestIdOf } from './middleware/request-id.ts'
import type { RequestTally } from './middleware/request-tally.ts'
import type { WatchAnswer } from './middleware/watch-answers.ts'

/**
 * Answers a request for a small file on the shortest way there is, or has the application answer it by `onward`, at once
 * or after it has found out that it cannot. It never refuses anything, and what it has done then is not done again.
 */
export type FastPath = (
  request: IncomingMessage,
  response: ServerResponse,
  onward: () => void,
) => void

export interface FastPathOptions {
  /** The path before all routes. */
  readonly prefix: string
  /** Asked again about a request, it says the same without looking again. */
  readonly authenticate: Authenticate
  readonly watchAnswer: WatchAnswer
  readonly maxRequests: number
  readonly maxRequestsPerCustomer: number
  readonly requestTally: RequestTally
}

/**
 * The fast path of the routes: plain GETs of files with plain names, for customers who are let in, of what a store has in
 * memory. Nearly all the time of such a request goes into the steps of a framework that it does not need.
 */
export function createFastPath(options: FastPathOptions): FastPath {
  const { prefix, authenticate, watchAnswer, requestTally: underWay } = options
  const { maxRequests, maxRequestsPerCustomer } = options
  const start = `${prefix}/serve/`

  const open = async (
    name: string,
    request: IncomingMessage,
    state: HoldfastState,
    places: Places,
  ) => {
    const files = await authenticate(request)
    const customer = files.customer.name
    if (underWay.count('') >= maxRequests) return undefined
    if (underWay.count(customer) >= maxRequestsPerCustomer) return undefined
    places.take('')
    places.take(customer)
    state.files = files
    const opening = files.serve(name, { reuseChunks: true })
    return { opening, file: await opening.catch(() => undefined) }
  }

  /** Whether the request has been answered. */
  const answer = async (
    name: string,
    type: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> => {
    const requestId = requestIdOf(request)
    const state: HoldfastState = { requestId, route: 'serve' }
    watchAnswer(request, response, () => ({ method: 'GET', path: request.url, state }))
    const places = createPlaces(underWay)
    // The application comes upon the same, and knows how to say it.
    const opened = await open(name, request, state, places).catch(() => undefined)
    if (opened?.file?.bytes) await endOfTurn()
    if (opened?.file?.bytes === undefined || response.closed) {
      places.leave()
      if (opened) leaveOpened(request, response, opened.opening)
      // A client that has left while the file was opened needs nobody to answer it.
      return opened !== undefined && response.closed
    }
    onAnswerEnd(request, response, places.leave)
    try {
      send(response, opened.file, requestId, type)
    } finally {
      // The answer is whole, whatever becomes of it.
      opened.file.close().catch(() => {})
    }
    return true
  }

  return (request, response, onward) => {
    const name = nameAskedFor(request, start)
    const type = name === undefined ? undefined : knownMediaType(name)
    if (name === undefined || type === undefined) return onward()
    answer(name, type, request, response).then((isAnswered) => {
      if (!isAnswered) onward()
    }, onward)
  }
}

/** The places that one request has among those under way. */
interface Places {
  take(key: string): void
  readonly leave: () => void
}

function createPlaces(underWay: RequestTally): Places {
  const keys: string[] = []
  return {
    take(key) {
      keys.push(key)
      underWay.change(key, 1)
    },
    leave() {
      for (const key of keys) underWay.change(key, -1)
    },
  }
}

/** The plain name of a file that is asked for without any condition; `undefined` for all other requests. */
function nameAskedFor(request: IncomingMessage, start: string): string | undefined {
  const { url = '', headers, method, httpVersion } = request
  if (method !== 'GET' || httpVersion !== '1.1' || !url.startsWith(start)) return undefined
  const isSpecial =
    headers.range !== undefined ||
    headers['content-length'] !== undefined ||
    headers['transfer-encoding'] !== undefined ||
    isConditional(headers)
  const name = url.slice(start.length)
  return isSpecial || !isPlainName(name) ? undefined : name
}

/** In the order in which the application has them. */
function send(
  response: ServerResponse,
  { info, bytes }: OpenBlob,
  requestId: string,
  type: string,
): void {
  response.writeHead(200, [
    'x-request-id',
    requestId,
    ...validatorHeaders(info),
    'Content-Type',
    type,
    'Content-Disposition',
    plainDisposition(info.name),
    ...contentHeaders,
    'Content-Length',
    `${info.size}`,
  ])
  step('answer-ready')
  response.end(bytes)
}

const fastPaths = new WeakMap<object, FastPath>()

/** Notes what goes before `app`, for servers that are made for it. */
export function noteFastPath(app: object, fastPath: FastPath): void {
  fastPaths.set(app, fastPath)
}

/** What goes before `app`; `undefined` for applications of others. */
export function fastPathOf(app: object): FastPath | undefined {
  return fastPaths.get(app)
}
