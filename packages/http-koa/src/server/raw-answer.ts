import type { Duplex } from 'node:stream'
import { STATUS_CODES } from 'node:http'
import { errorBody } from '../http/problem.ts'

/** How long a client gets to take a last answer, in milliseconds. */
const lastAnswerMs = 2_000

/** Answers on a socket that has no usable request, and closes it; what the client still sends is dropped. */
export function answerRaw(socket: Duplex, status: number, message: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(errorBody(status, message))
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  socket.on('error', () => {}).resume()
  setTimeout(() => socket.destroy(), lastAnswerMs).unref()
}
