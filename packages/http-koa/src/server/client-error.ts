import type { Duplex } from 'node:stream'
import { exchangeOn } from './exchanges.ts'
import { answerRaw } from './raw-answer.ts'

/** What Node's parser reports, as far as 400 is not the answer. */
const statuses: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}

/** Answers what the parser refuses: bytes that are no HTTP, or a body that breaks off. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  const exchange = exchangeOn(socket)
  const isAnswering = exchange?.response.headersSent && !exchange.response.writableFinished
  if (error.code === 'ECONNRESET' || isAnswering) {
    socket.destroy()
    return
  }
  const isBodyBroken = exchange !== undefined && !exchange.request.complete
  const [status, message] = statuses[error.code ?? ''] ?? [
    400,
    bodyOrRequest(isBodyBroken, exchange?.request.headers['content-type']),
  ]
  answerRaw(socket, status, message)
}

function bodyOrRequest(isBodyBroken: boolean, contentType = ''): string {
  if (!isBodyBroken) return 'Malformed request'
  return contentType.startsWith('multipart/') ? 'Malformed multipart body' : 'Truncated body'
}
