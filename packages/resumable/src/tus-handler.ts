import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  isFileServiceError,
  requireFunction,
  requireOptions,
  type CustomerFiles,
} from '@holdfast/core'
import { errorAnswer, type ErrorAnswer, HttpProblem, statusText, requirePath } from './request.ts'
import type { TusAnswer, TusRequest } from './tus-request.ts'
import { createTus, tusHeaders, type Tus, type TusOptions } from './tus.ts'

export interface TusHandlerOptions extends TusOptions {
  /** The path of the handler in the application, such as `/uploads`, without a slash at its end. Uploads are at `path/id`. */
  readonly path: string
  /**
   * The files of the customer who sent a request. A rejection refuses the request: with the status of a `FileServiceError`, or with
   * the `status` of an error from 400 to 499; any other rejection is answered with 500.
   */
  readonly filesOf: (request: IncomingMessage) => CustomerFiles | Promise<CustomerFiles>
  /** Called with each error that is answered with 500 or more, for your log. Its own errors are dropped. Default: `console.error`. */
  readonly onFault?: (error: unknown, request: IncomingMessage) => void
}

/** Answers a request at the handler's path or below it; every other request with 404. It never rejects. */
export type TusHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Makes a handler for a server of `node:http`, for Express (`app.use('/uploads', handler)`) and for Koa. */
export function createTusHandler(options: TusHandlerOptions): TusHandler {
  requireOptions('createTusHandler({ path, filesOf })', options, {
    path: requirePath,
    filesOf: requireFunction,
    'onFault?': requireFunction,
  })
  const { onFault = toConsole } = options
  const tus = createTus(options)
  const fail = async (error: unknown, request: IncomingMessage, response: ServerResponse) => {
    const problem = problemOf(error)
    if (problem.status >= 500) report(() => onFault(error, request))
    await refuse(request, response, problem)
  }
  return async (request, response) => {
    const signal = leavingSignal(response)
    try {
      const { status, headers } = await answer(tus, request, signal, options)
      response
        .writeHead(status, { ...headers, ...(status === 201 && { 'Content-Length': 0 }) })
        .end()
    } catch (error) {
      // The client has left: its bytes are kept, and no one waits for an answer.
      if (error !== undefined && (error === request.errored || error === signal.reason)) return
      await fail(error, request, response)
        // An error of the application may have headers that cannot be sent.
        .catch((fault: unknown) => fail(fault, request, response))
        .catch(() => response.destroy())
    }
  }
}

/** A signal that aborts when the client leaves before it has the answer. */
function leavingSignal(response: ServerResponse): AbortSignal {
  const leaving = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) leaving.abort(new Error('The client has left'))
  })
  return leaving.signal
}

/** Logs an error with the request's method only: the path may contain what must not be logged. */
function toConsole(error: unknown, { method }: IncomingMessage): void {
  console.error(`The server failed at ${method} of an upload in pieces:`, error)
}

/** Calls a log. If the log throws or rejects, the request does not fail. */
function report(call: () => unknown): void {
  void (async () => call())().catch(() => {})
}

async function answer(
  tus: Tus,
  request: IncomingMessage,
  signal: AbortSignal,
  { path, filesOf }: TusHandlerOptions,
): Promise<TusAnswer> {
  const tusRequest = { ...asTusRequest(request, path), signal }
  if (tus.methodOf(tusRequest) === 'OPTIONS') return tus.describe(tusRequest)
  const { resumable } = await filesOf(request)
  if (resumable === undefined) throw new TypeError('The store keeps no uploads in pieces')
  return tus.answer(resumable, tusRequest)
}

/** Express removes the path at which a handler is mounted from `url`; `originalUrl` has the whole URL. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string
}

function asTusRequest(request: MountedRequest, mount: string): TusRequest {
  const { method = '', headers, originalUrl, url = '' } = request
  const path = (originalUrl ?? url).replace(/[?#].*$/s, '')
  const [before, id] = [path.slice(0, mount.length), path.slice(mount.length)]
  if (before !== mount || !/^(?:\/[^/]*)?$/.test(id)) {
    throw new HttpProblem('unknown-path', 404, 'Not Found')
  }
  return {
    method,
    headers,
    path,
    id: id.slice(1) || undefined,
    content: () => nodeContent(request),
  }
}

/** The answer to `error`: 500 unless it is an error of the core, or has a `status` from 400 to 499. */
function problemOf(error: unknown): ErrorAnswer {
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

/**
 * The body of `request`; reading it throws if it is incomplete. A reader that stops early does not destroy the request, so that an
 * answer can be sent.
 *
 * @throws Error when something has read from the body before
 */
function nodeContent(request: IncomingMessage): AsyncIterable<Uint8Array> {
  if (request.readableDidRead || request.readableEncoding) {
    throw new Error(
      "Something has read the request's body before holdfast: mount the handler before body parsers, such as " +
        'express.json and koa-bodyparser, or keep them off its path',
    )
  }
  return announced(request)
}

async function* announced(request: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Uint8Array
    size += bytes.length
    yield bytes
  }
  const length = request.headers['content-length']
  if (length !== undefined && Number(length) !== size) {
    throw new Error(
      `The request's body had ${size} bytes instead of ${length}: something else reads it`,
    )
  }
}

/** How much of an unwanted body is read at most, and how long. If it were not read, a client that still sends could lose the answer. */
const longestDrain = { bytes: 64 * 1024 * 1024, ms: 10_000 }

/** Answers with an error, in the form of holdfast: `statusCode`, `error`, `message`. */
async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: ErrorAnswer,
): Promise<void> {
  if (response.headersSent) return
  const error = statusText(status)
  const body = JSON.stringify({ statusCode: status, error, message })
  response.writeHead(status, error, {
    ...tusHeaders,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...(!request.complete && { Connection: 'close' }),
    ...headers,
  })
  if (request.complete || request.method === 'HEAD') return void response.end(body)
  response.write(body)
  await drain(request)
  response.end()
}

/** Reads the rest of the body, up to {@link longestDrain}. */
async function drain(request: IncomingMessage): Promise<void> {
  if (request.destroyed) return
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const done = () => resolve(undefined)
  let size = 0
  request.on('data', (chunk: Uint8Array) => {
    size += chunk.length
    if (size > longestDrain.bytes) done()
  })
  const timer = setTimeout(done, longestDrain.ms)
  request.once('end', done).once('close', done).once('error', done).resume()
  await promise
  clearTimeout(timer)
}
