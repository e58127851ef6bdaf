import type { BenchRequest } from '../subjects/subject.ts'
import { openSocket } from './open-socket.ts'
import { requestBytes } from './request-bytes.ts'

/** What a client saw of an answer. */
export interface Received {
  readonly bytes: number
  readonly seconds: number
  /** From the request to the first byte of the body, in milliseconds. */
  readonly firstByteMs: number
}

const buffer = Buffer.alloc(1024 ** 2)

/**
 * Sends a request on a connection of its own and reads the answer to its end, into one buffer over and over, so that the
 * client costs as little as it can. Rejects when the answer is not 2xx.
 */
export function download(port: number, request: BenchRequest): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>()
  const begin = performance.now()
  let [received, headEnd, firstByteAt, head] = [0, -1, 0, '']
  const take = (length: number) => {
    received += length
    if (headEnd === -1) {
      head += buffer.toString('latin1', 0, length)
      headEnd = head.indexOf('\r\n\r\n')
      if (headEnd !== -1) head = head.slice(0, headEnd + 4)
    }
    if (firstByteAt === 0 && headEnd !== -1 && received > head.length) {
      firstByteAt = performance.now()
    }
    return true
  }
  const socket = openSocket(port, request, { buffer, callback: take })
  socket.once('error', reject).once('end', () => {
    if (!/^HTTP\/1\.1 2/.test(head)) reject(new Error(`Answered ${head}`))
    const ms = (at: number) => at - begin
    resolve({
      bytes: received - head.length,
      seconds: ms(performance.now()) / 1000,
      firstByteMs: ms(firstByteAt),
    })
  })
  socket.write(requestBytes(closing(request), port))
  return promise
}

/** The request as the last one of its connection. */
export function closing(request: BenchRequest): BenchRequest {
  return { ...request, headers: { ...request.headers, connection: 'close' } }
}
