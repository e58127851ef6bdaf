import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type HttpProblem, statusText } from '@holdfast/resumable'
import { errorBody, problems } from '../http/problems.ts'
import { connectionOf, endExchanges, isClosed } from './connection.ts'

/** The answer to headers that are too long, or too many. */
export const headersTooLarge = [431, 'The headers are too large'] as const

/** Answers by the parser's `reason`, where its code is the same for malformed and for unknown values. */
const ofReasons: Readonly<Record<string, HttpProblem>> = {
  'Invalid HTTP version': problems.unknownVersion(),
  'Invalid `Transfer-Encoding` header value': problems.unknownTransferCoding(),
}

/** Answers by the parser's `code`, where the answer is not 400. */
const statuses: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}

type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** Answers what the parser refuses: bytes that are not HTTP, or a body that breaks off. */
export function answerClientError(error: ParserError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || hasSaidNothing(socket)) {
    socket.destroy()
    return
  }
  // The parser reports an error for each chunk after the first error, too.
  if (!endExchanges(socket)) return
  const { exchange } = connectionOf(socket)
  const [status, message] = answerTo(error) ?? [400, bodyOrRequest(exchange?.request)]
  const answer = () => answerRaw(socket, status, message)
  if (exchange === undefined) return answer()
  const { request, response } = exchange
  // The malformed bytes follow a request that is not answered yet.
  if (request.complete && !isClosed(response)) response.once('close', answer)
  else if (response.headersSent && !response.writableFinished) closeGently(socket)
  else answer()
}

function answerTo({ code = '', reason = '' }: ParserError) {
  const problem = ofReasons[reason]
  return problem ? ([problem.status, problem.message] as const) : statuses[code]
}

/** Whether the client has sent nothing: then the connection ends without an answer, as one that is idle between requests does. */
function hasSaidNothing(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0
}

function bodyOrRequest(request: IncomingMessage | undefined): string {
  if (request === undefined || request.complete) return 'Malformed request'
  const type = request.headers['content-type'] ?? ''
  return type.startsWith('multipart/') ? 'Malformed multipart body' : 'Truncated body'
}

/** How long a client may take to read the last answer, in milliseconds. */
const lastAnswerMs = 2_000

/** Answers on a socket that has no usable request, and closes it. Bytes that the client still sends are dropped. */
export function answerRaw(
  socket: Duplex,
  status: number,
  message: string,
  headers: readonly string[] = [],
): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(errorBody(status, message))
  socket.write(
    [
      `HTTP/1.1 ${status} ${statusText(status)}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      `Date: ${new Date().toUTCString()}`,
      'Connection: close',
      ...headers,
      '',
      body,
    ].join('\r\n'),
  )
  closeGently(socket)
}

/** Closes a socket so that the client can still read what was sent; a reset would discard that. */
function closeGently(socket: Duplex): void {
  socket.on('error', () => {}).resume()
  socket.end()
  setTimeout(() => socket.destroy(), lastAnswerMs).unref()
}
