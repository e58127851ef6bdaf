import type { Duplex } from 'node:stream'
import { errorBody } from '../errors/problem.ts'
import { http } from '../modules/required.ts'

/** How long a client gets to take a last answer, in milliseconds. */
const lastAnswerMs = 2_000

/** Answers on a socket that has no usable request, and closes it; what the client still sends is dropped. */
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
      `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'Error'}`,
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

/** Closes a socket without taking from the client what it has been sent, as a reset would. */
export function closeGently(socket: Duplex): void {
  socket.on('error', () => {}).resume()
  socket.end()
  setTimeout(() => socket.destroy(), lastAnswerMs).unref()
}
