import type { IncomingMessage } from 'node:http'
import type { BlobInfo, OpenBlob } from '@holdfast/core'
import {
  contentHeaders,
  mediaTypeOf,
  plainDisposition,
  takeOpened,
  validatorHeaders,
} from './downloads/serve.ts'
import type { AuditRecorder } from './guards/audit.ts'
import { filesOf, type Enter, type Entrance } from './guards/enter.ts'
import { etagOf, isConditional } from './http/conditional.ts'
import { isPlainName } from './http/text.ts'
import { isClosed, onExchangeEnd } from './server/connection.ts'
import { crashPoint, endOfTick, type Exchange, type Route } from './server/exchange.ts'
import { hasBody, takeBodyAtHand } from './server/request-body.ts'
import { prepareFormFile, takeSimpleForm } from './uploads/form.ts'
import { prepareUpload, uploadRequestOf } from './uploads/upload.ts'

/** What the fast path shares with the routes. */
interface FastPathSetup {
  readonly prefix: string
  readonly recorder: AuditRecorder
  /** Answers to other origins need more headers: where this is set, the fast path answers nothing. */
  readonly cors: unknown
}

/** The fast path: `/ping`, and downloads, uploads and deletions of small files. It leaves other requests to the application. */
export function createFastPath(
  { prefix, recorder, cors }: FastPathSetup,
  { receive, enter }: Entrance,
): FastPath {
  const ping = createFastPing(prefix, receive)
  const serve = createFastServe(prefix, enter)
  const change = createFastChange(prefix, enter, recorder)
  return (exchange) => {
    const { method, httpVersion } = exchange.request
    if (httpVersion !== '1.1' || cors !== undefined) return undefined
    const attempt = method === 'GET' ? (ping(exchange) ?? serve(exchange)) : change(exchange)
    // The application finds the same error and answers it.
    return attempt?.catch(() => false)
  }
}

/**
 * Answers a simple request without the framework. Returns `undefined` if it cannot answer the request, resolves with `false` if
 * it finds that out later, and rejects if the request is refused. In each of these cases the application answers; it finds what
 * was done already in the exchange.
 */
export type FastPath = (exchange: Exchange) => Promise<boolean> | undefined

/** The fast path of GET /ping, for which proxies and watchers ask all the time. */
function createFastPing(prefix: string, receive: Entrance['receive']): FastPath {
  const path = `${prefix}/ping`

  const answer = async (exchange: Exchange): Promise<boolean> => {
    exchange.state.route = 'ping'
    receive(exchange)
    await endOfTick()
    crashPoint('answer-ready')
    if (!isClosed(exchange.response)) sendText(exchange, 'pong')
    return true
  }

  return (exchange) => {
    const { request } = exchange
    return request.url === path && !hasBody(request) ? answer(exchange) : undefined
  }
}

/**
 * The fast path of GET, for files with plain names that the store has in memory, asked for by customers without any condition.
 * Such a request would spend nearly all its time in steps of the framework that it does not need.
 */
function createFastServe(prefix: string, enter: Enter): FastPath {
  const start = `${prefix}/serve/`

  const answer = async (exchange: Exchange, name: string): Promise<boolean> => {
    const { response, state } = exchange
    state.route = 'serve'
    await enter(exchange).entered
    const opening = filesOf(state).serve(name, { reuseChunks: true })
    const file = await opening.catch(() => undefined)
    if (file?.bytes) await endOfTick()
    if (file?.bytes === undefined || isClosed(response)) {
      leaveOpened(exchange, opening)
      // The client may have left while the file was opened.
      return isClosed(response)
    }
    try {
      sendFile(exchange, file)
    } finally {
      // The response has all bytes already; an error of `close` loses nothing.
      file.close().catch(() => {})
    }
    return true
  }

  return (exchange) => {
    const name = nameAskedFor(exchange.request, start)
    return name === undefined ? undefined : answer(exchange, name)
  }
}

/** Leaves the opened file to the route. If the route does not take it, it is closed after the exchange. */
function leaveOpened(exchange: Exchange, opening: Promise<OpenBlob>): void {
  exchange.opening = opening
  const close = async () => (await takeOpened(exchange))?.close()
  onExchangeEnd(exchange, () => void close().catch(() => {}))
}

/** The file name in a request for a file with a plain name, without any condition; `undefined` for all other requests. */
function nameAskedFor(request: IncomingMessage, start: string): string | undefined {
  const { url = '', headers } = request
  if (!url.startsWith(start)) return undefined
  const isSpecial = headers.range !== undefined || hasBody(request) || isConditional(headers)
  const name = url.slice(start.length)
  return isSpecial || !isPlainName(name) ? undefined : name
}

/** The headers have the order in which the application sends them. */
function sendFile({ response, state }: Exchange, { info, bytes }: OpenBlob): void {
  response.writeHead(200, [
    'x-request-id',
    state.requestId ?? '',
    ...validatorHeaders(info),
    'Content-Type',
    mediaTypeOf(info.name),
    'Content-Disposition',
    plainDisposition(info.name),
    ...contentHeaders,
    'Content-Length',
    `${info.size}`,
  ])
  crashPoint('answer-ready')
  response.end(bytes)
}

/** A change of one file. */
interface Change {
  readonly route: Route
  readonly event: 'upload' | 'delete'
  /** Begins the change and puts its promise into the exchange; returns `undefined` where the fast path cannot make the change. */
  readonly make: (exchange: Exchange) => Promise<BlobInfo | undefined> | undefined
}

/**
 * The fast path of PUT, DELETE and simple forms, for files with plain names, without any condition or digest, whose body has
 * arrived completely. If a change fails, the application finds its promise in the exchange and answers the error.
 */
function createFastChange(prefix: string, enter: Enter, recorder: AuditRecorder): FastPath {
  const changeAskedFor = createChoice(prefix)

  const answer = async (exchange: Exchange, { route, event, make }: Change): Promise<boolean> => {
    const { response, state } = exchange
    const record = recorder(exchange)
    state.route = route
    await enter(exchange).entered
    const making = make(exchange)
    if (making === undefined) return false
    const stored = await making
    if (stored) state.stored = stored
    exchange.recording = record(event, { file: state.fileName, bytes: stored?.size })
    await exchange.recording
    await endOfTick()
    crashPoint('answer-ready')
    if (!isClosed(response)) sendText(exchange, 'OK', stored)
    return true
  }

  return (exchange) => {
    const change = isSpecial(exchange) ? undefined : changeAskedFor(exchange.request)
    return change && answer(exchange, change)
  }
}

/** Whether the request asks for more than the plain change, or something has read its body already. */
function isSpecial({ request, awaitsContinue }: Exchange): boolean {
  const { headers } = request
  return (
    awaitsContinue ||
    request.readableDidRead ||
    request.readableEncoding !== null ||
    headers['content-range'] !== undefined ||
    headers['content-digest'] !== undefined ||
    headers['upload-complete'] !== undefined ||
    headers['upload-incomplete'] !== undefined ||
    isConditional(headers)
  )
}

function createChoice(prefix: string): (request: IncomingMessage) => Change | undefined {
  const [uploads, deletions] = [`${prefix}/upload`, `${prefix}/delete/`]
  const nameIn = (url: string, start: string) => {
    const name = url.startsWith(start) ? url.slice(start.length) : ''
    return isPlainName(name) ? name : undefined
  }
  return (request) => {
    const { method, url = '' } = request
    if (method === 'POST') return url === uploads ? form : undefined
    if (method === 'PUT') {
      const name = nameIn(url, `${uploads}/`)
      return name === undefined ? undefined : put(name)
    }
    const name = method === 'DELETE' && !hasBody(request) ? nameIn(url, deletions) : undefined
    return name === undefined ? undefined : remove(name)
  }
}

const form: Change = {
  route: 'upload',
  event: 'upload',
  make(exchange) {
    const upload = uploadRequestOf(exchange)
    const simple = takeSimpleForm(exchange.request)
    if (simple === undefined) return undefined
    const store = async () => {
      const pending = prepareFormFile(upload, simple)
      crashPoint('form-complete')
      return pending.publish()
    }
    return (exchange.storing = store())
  },
}

function put(name: string): Change {
  return {
    route: 'put',
    event: 'upload',
    make(exchange) {
      const { request } = exchange
      const upload = uploadRequestOf(exchange)
      const bytes = takeBodyAtHand(request)
      if (bytes === undefined) return undefined
      request.resume()
      return (exchange.storing = prepareUpload(upload, { name, bytes }).publish())
    },
  }
}

function remove(name: string): Change {
  return {
    route: 'delete',
    event: 'delete',
    make(exchange) {
      exchange.state.fileName = name
      exchange.deleting = filesOf(exchange.state).delete(name)
      return exchange.deleting.then(() => undefined)
    },
  }
}

/** The headers have the order in which the application sends them. */
function sendText({ response, state }: Exchange, text: string, stored?: BlobInfo): void {
  response.writeHead(200, [
    'x-request-id',
    state.requestId ?? '',
    'Content-Type',
    'text/plain; charset=utf-8',
    ...(stored ? ['ETag', etagOf(stored)] : []),
    'Content-Length',
    `${text.length}`,
  ])
  response.end(text)
}
