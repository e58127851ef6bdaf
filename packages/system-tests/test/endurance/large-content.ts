import { createCipheriv, createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { credentials } from '@holdfast/testing'

/** `bytes` bytes that nothing can compress or keep sparse, made as they are read, the same in every run. */
export function* pseudoRandom(bytes: number): Iterable<Buffer> {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
  const zeros = Buffer.alloc(256 * 1024)
  for (let rest = bytes; rest > 0; rest -= zeros.length) {
    yield cipher.update(zeros.subarray(0, Math.min(rest, zeros.length)))
  }
}

const boundary = 'large-content-boundary'

/** Uploads `bytes` bytes as the file of a form, and resolves to the status. */
export async function postForm(url: string, name: string, bytes: number): Promise<number> {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
  const tail = `\r\n--${boundary}--\r\n`
  function* form(): Iterable<Buffer> {
    yield Buffer.from(head)
    yield* pseudoRandom(bytes)
    yield Buffer.from(tail)
  }
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': head.length + bytes + tail.length,
  }
  return statusOf(await send(`${url}/upload`, 'POST', headers, form()))
}

/** Uploads `bytes` bytes as they are, and resolves to the status. */
export async function putRaw(url: string, name: string, bytes: number): Promise<number> {
  const headers = { 'content-length': bytes }
  return statusOf(await send(`${url}/upload/${name}`, 'PUT', headers, pseudoRandom(bytes)))
}

/** Downloads a file. */
export function serve(url: string, name: string): Promise<IncomingMessage> {
  return send(`${url}/serve/${name}`, 'GET', {})
}

/** The SHA-256 of `content`, in hexadecimal. */
export async function digestOf(content: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of content) hash.update(chunk)
  return hash.digest('hex')
}

/** Has the server allocate what its first small upload and download need: that is its own and not a large file's. */
export async function warmUp(url: string): Promise<void> {
  await putRaw(url, 'warm', 8 * 1024 ** 2)
  await digestOf(await serve(url, 'warm'))
}

async function send(
  url: string,
  method: string,
  headers: Record<string, string | number>,
  body: Iterable<Buffer> = [],
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers: { ...credentials, ...headers } })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(Readable.from(body, { objectMode: false }), outgoing)
  const [incoming] = await answered
  return incoming
}

function statusOf(answer: IncomingMessage): number {
  answer.resume()
  return answer.statusCode ?? 0
}
