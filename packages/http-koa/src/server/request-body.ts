import type { IncomingMessage } from 'node:http'
import { finished, type Readable } from 'node:stream'
import { createHash } from 'node:crypto'
import type { ExpectedDigest, UploadOptions } from '@holdfast/core'
import { problems } from '../http/problems.ts'
import { inviteBody } from './exchange.ts'

/** Bytes that are there as a whole, or bytes that arrive and throw where they are not complete. */
export type UploadBytes = Uint8Array | AsyncIterable<Uint8Array>

/** The bytes of the body: whole where they are there, or else those that a waiting client sends when they are read. */
export function bodyOf(request: IncomingMessage): UploadBytes {
  requireIntactBody(request)
  const whole = takeBodyAtHand(request)
  if (whole) {
    request.resume()
    return whole
  }
  return {
    [Symbol.asyncIterator]() {
      inviteBody(request)
      return chunksOf(request, problems.truncatedBody, (size) =>
        requireAnnouncedLength(request, size),
      )
    },
  }
}

/**
 * Takes the body of `request` if all of it has arrived and nothing has read from it; otherwise, and for bodies without an
 * announced length, `undefined`. Reading a small body as a stream takes longer than storing it. A caller who uses the body
 * then calls `request.resume()`, so that the request ends; a caller who does not puts it back with `request.unshift`.
 */
export function takeBodyAtHand(request: IncomingMessage): Buffer | undefined {
  const length = Number(request.headers['content-length'] ?? 0)
  const isThere = length > 0 && request.readableLength === length
  return isThere ? (request.read() as Buffer) : undefined
}

/** Streams whose rest is not wanted. */
const discarded = new WeakSet<Readable>()

/** Reads the rest of `stream` and drops it, even while a reader of {@link chunksOf} has stopped and still waits for a chunk. */
export function discardRest(stream: Readable): void {
  discarded.add(stream)
  stream.resume()
}

/**
 * The chunks of `stream` as they have arrived, each after the one before has been processed; throws the error of
 * `brokenOff` if the stream does not end properly. (The stream's own iterator would copy waiting chunks into one.) A reader
 * that stops early leaves the stream paused and alive, since its source could wait for ever for a destroyed one. At the
 * end, `atEnd` is called with the number of bytes; the reader gets what it throws.
 */
export async function* chunksOf(
  stream: Readable,
  brokenOff: () => Error,
  atEnd: (size: number) => void = () => {},
): AsyncGenerator<Buffer, void, undefined> {
  // More than one only where something else reads the stream as well, and has resumed it.
  const arrived: Buffer[] = []
  let size = 0
  let ended: { readonly error: unknown } | undefined
  let wake = () => {}
  const take = (chunk: Buffer) => {
    if (discarded.has(stream)) return
    stream.pause()
    arrived.push(chunk)
    size += chunk.length
    wake()
  }
  const forget = finished(stream, { writable: false }, (error) => {
    ended = { error }
    wake()
  })
  stream.on('data', take)
  try {
    while (true) {
      const chunk = arrived.shift()
      if (chunk) {
        yield chunk
      } else if (ended) {
        if (ended.error) throw brokenOff()
        return atEnd(size)
      } else {
        const change = new Promise<void>((resolve) => (wake = resolve))
        stream.resume()
        await change
      }
    }
  } finally {
    stream.off('data', take)
    if (!discarded.has(stream)) stream.pause()
    forget()
  }
}

/**
 * The upload option that frees the memory of each chunk of `request`'s body once it is stored. Make it before the body is
 * read. Without it, memory outside of the heap causes some forty full garbage collections for each GiB, which doubles the
 * work of an upload. No option if something else listens to the body, and may keep the chunks.
 */
export function releaseChunks(request: IncomingMessage): Pick<UploadOptions, 'release'> {
  return request.listenerCount('data') === 0 ? { release: free } : {}
}

function free({ buffer, byteLength }: Uint8Array): void {
  // Other chunks may share the memory of a chunk that is only a part of it.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * All bytes of the body; `undefined` if there are more than `limit`. Holds no more than these and one chunk in memory, and
 * reads nothing of a body whose announced length is beyond the limit.
 *
 * @throws HttpProblem `truncated-body`
 */
export async function readWholeBody(
  request: IncomingMessage,
  limit: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined
  const body = bodyOf(request)
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * A body that is not what the client has sent, since something in the application has read or changed it. Neither the
 * client's fault nor the store's; the message is for the log, and says what to change.
 */
class BodyFault extends Error {
  override readonly name = 'BodyFault'
}

/**
 * To be called right before the body is read: an upload of what is left of a body would be acknowledged, and be empty or
 * a part of the file.
 *
 * @throws BodyFault when something has read of the body, or has it decoded
 */
export function requireIntactBody(request: IncomingMessage): void {
  if (request.readableDidRead && !isWhole(request)) {
    throw new BodyFault(
      "Something has read the request's body before holdfast: mount holdfast's router before body parsers, " +
        'such as koa-bodyparser and express.json, or keep them off its paths',
    )
  }
  requireUndecodedBody(request)
}

/** Whether the whole body lies in the stream, as where it was looked at and put back. */
function isWhole({ headers, readableLength }: IncomingMessage): boolean {
  return readableLength > 0 && readableLength === Number(headers['content-length'])
}

/**
 * The part of {@link requireIntactBody} that holds while the body is being read, too.
 *
 * @throws BodyFault when something has the body decoded
 */
export function requireUndecodedBody(request: IncomingMessage): void {
  if (request.readableEncoding) {
    throw new BodyFault(
      'Something has called setEncoding on the request before holdfast, so that its body comes as text: ' +
        "remove the call, or keep it off the paths of holdfast's router",
    )
  }
}

/**
 * To be called when all of the body has been read: Node sees to it that as many bytes come from the client as it has
 * announced.
 *
 * @throws BodyFault when there were more or less
 */
function requireAnnouncedLength(request: IncomingMessage, size: number): void {
  const fault = lengthFault(request, size)
  if (fault) throw fault
}

function lengthFault({ headers }: IncomingMessage, size: number): BodyFault | undefined {
  const announced = headers['content-length']
  if (announced === undefined || Number(announced) === size) return undefined
  return new BodyFault(
    `The request's body had ${size} bytes instead of the ${announced} that Content-Length announced: something ` +
      "reads or replaces it beside holdfast. Mount holdfast's router before that, or keep it off its paths",
  )
}

/**
 * {@link requireAnnouncedLength} for a body that is about to be piped elsewhere: calls `fail` with the fault before the
 * other end learns that the body has ended.
 */
export function watchBodyLength(request: IncomingMessage, fail: (fault: BodyFault) => void): void {
  let size = 0
  request.on('data', (chunk: Buffer) => (size += chunk.length))
  request.once('end', () => {
    const fault = lengthFault(request, size)
    if (fault) fail(fault)
  })
}

const algorithms = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * The digest that a Content-Digest header (RFC 9530 §2) announces: SHA-256, or SHA-512 where that is all there is.
 * `undefined` without one of these; other algorithms are passed over, as §5 allows.
 *
 * @throws HttpProblem 400 when the value for one of these algorithms is no digest of that length
 */
export function parseContentDigest(header: string | undefined): ExpectedDigest | undefined {
  const members = new Map(
    (header ?? '').split(',').map((member) => {
      const [key = '', ...value] = member.trim().split('=')
      return [key.trim().toLowerCase(), value.join('=')]
    }),
  )
  for (const [name, algorithm] of Object.entries(algorithms)) {
    const value = members.get(name)
    if (value !== undefined) return expect(name, algorithm, value)
  }
  return undefined
}

function expect(name: string, algorithm: string, value: string): ExpectedDigest {
  const hash = createHash(algorithm)
  const base64 = /^:([A-Za-z0-9+/]*={0,2}):$/.exec(value)?.[1] ?? ''
  const digest = Buffer.from(base64, 'base64')
  if (digest.length !== hash.copy().digest().length) {
    throw problems.invalidHeader(
      'Content-Digest',
      `${name} must be a digest in base64 between colons`,
    )
  }
  return { hash, expected: () => digest.toString('hex') }
}
