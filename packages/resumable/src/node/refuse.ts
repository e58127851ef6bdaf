import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorAnswer } from '../protocol/error-answer.ts'
import { statusText } from '../protocol/status-text.ts'
import { tusHeaders } from '../tus/create-tus.ts'

/** How much of an unwanted body is read at most, and how long: a client that still sends misses the answer otherwise. */
const longestDrain = { bytes: 64 * 1024 * 1024, ms: 10_000 }

/** Answers with an error, in the form of holdfast: `statusCode`, `error`, `message`. */
export async function refuse(
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

/** Reads the rest of the body, within bounds. */
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
