import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpProblem } from '@holdfast/resumable'
import { connectionOf } from '../exchange/connection.ts'
import { problems } from '../errors/problem.ts'
import { endExchanges } from './end-exchanges.ts'
import { answerRaw, closeGently } from './raw-answer.ts'
import { isClosed } from '../exchange/is-closed.ts'

/** Whether it is their size or their number. */
export const headersTooLarge = [431, 'The headers are too large'] as const

/** Where the parser has one code for what is malformed and for what is only unknown. */
const ofReasons: Readonly<Record<string, HttpProblem>> = {
  'Invalid HTTP version': problems.unknownVersion(),
  'Invalid `Transfer-Encoding` header value': problems.unknownTransferCoding(),
}

/** What Node's parser reports, as far as 400 is not the answer. */
const statuses: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: headersTooLarge,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}

type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** Answers what the parser refuses: bytes that are no HTTP, or a body that breaks off. */
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

/** Like one that has been idle since its last request, such a connection ends without a word. */
function hasSaidNothing(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0
}

function bodyOrRequest(request: IncomingMessage | undefined): string {
  if (request === undefined || request.complete) return 'Malformed request'
  const type = request.headers['content-type'] ?? ''
  return type.startsWith('multipart/') ? 'Malformed multipart body' : 'Truncated body'
}
