import type * as Http from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { tusHeaders } from '../tus/create-tus.ts'
import type { Problem } from './problem-of.ts'

// `import` would have Node read all names of the module, some of which load what `fetch` is made of.
const { STATUS_CODES } = createRequire(import.meta.url)('node:http') as typeof Http

/** How much of an unwanted body is read at most, and how long: a client that still sends misses the answer otherwise. */
const longestDrain = { bytes: 64 * 1024 * 1024, ms: 10_000 }

/** Node does not know the protocol's own status. */
const statusTexts: Readonly<Record<number, string | undefined>> = {
  ...STATUS_CODES,
  460: 'Checksum Mismatch',
}

/** Answers with an error, in the form of holdfast: `statusCode`, `error`, `message`. */
export async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: Problem,
): Promise<void> {
  if (response.headersSent) return
  const error = statusTexts[status] ?? 'Error'
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
