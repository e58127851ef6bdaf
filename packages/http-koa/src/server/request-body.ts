import type { IncomingMessage } from 'node:http'
import { finished, type Readable } from 'node:stream'
import type { UploadOptions } from '@holdfast/core'
import { problems } from '../http/problems.ts'
import { inviteBody } from './exchange.ts'
import { decodeUtf8, parseJson } from '../http/text.ts'

/** All bytes at once, or bytes that are still arriving; reading these throws if they are not complete. */
export type UploadBytes = Uint8Array | AsyncIterable<Uint8Array>

/** Whether a request has a body: without a length and without chunks it has none (RFC 9112 §6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** The bytes of the body, at once if all have arrived. Otherwise a client that waits for a 100 gets it when reading begins. */
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
 * Takes the body of `request` if all of it has arrived and nothing has read from it; returns `undefined` otherwise, and for
 * bodies without an announced length. To read a small body as a stream takes longer than to store it. A caller that uses the
 * body must then call `request.resume()`, so that the request ends; a caller that does not must put it back by `request.unshift`.
 */
export function takeBodyAtHand(request: IncomingMessage): Buffer | undefined {
  const length = Number(request.headers['content-length'] ?? 0)
  const isThere = length > 0 && request.readableLength === length
  return isThere ? (request.read() as Buffer) : undefined
}

/** Streams whose remaining chunks are dropped. */
const discarded = new WeakSet<Readable>()

/** Reads and drops the rest of `stream`, even if a reader of {@link chunksOf} still waits for a chunk that it will not use. */
export function discardRest(stream: Readable): void {
  discarded.add(stream)
  stream.resume()
}

/**
 * The chunks of `stream` as they arrived; the next one is read after the reader has processed the one before. Throws the error
 * of `brokenOff` if the stream does not end properly. (The stream's own iterator would copy waiting chunks into one.) A reader
 * that stops early leaves the stream paused and not destroyed: its source could wait forever for a destroyed stream. At the end,
 * `atEnd` is called with the number of bytes; what it throws reaches the reader.
 */
export async function* chunksOf(
  stream: Readable,
  brokenOff: () => Error,
  atEnd: (size: number) => void = () => {},
): AsyncGenerator<Buffer, void, undefined> {
  // Holds more than one chunk only if something else reads the stream, too, and has resumed it.
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
 * The upload option that frees the memory of each chunk of `request`'s body once it is stored. Call this before the body is
 * read. Without the option, memory outside of the heap causes some forty full garbage collections for each GiB, which doubles
 * the work of an upload. Returns no option if something else listens to the body, since that may keep the chunks.
 */
export function releaseChunks(request: IncomingMessage): Pick<UploadOptions, 'release'> {
  return request.listenerCount('data') === 0 ? { release: freeChunk } : {}
}

/** Frees the memory of a chunk that nothing reads any more. */
export function freeChunk({ buffer, byteLength }: Uint8Array): void {
  // Other chunks may share the memory of a chunk that is only a part of it.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/**
 * All bytes of the body; `undefined` if there are more than `limit`. Keeps at most `limit` bytes and one chunk in memory, and
 * reads nothing of a body whose announced length exceeds the limit.
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
 * A body that differs from what the client sent, because something in the application has read or changed it. It is a mistake
 * of the application; the message is for the log, and says what to change.
 */
class BodyFault extends Error {
  override readonly name = 'BodyFault'
}

/**
 * Call this right before the body is read: an upload of the rest of a body would be acknowledged, but store an empty file or a
 * part of the file.
 *
 * @throws BodyFault when something has read from the body, or has it decoded to text
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

/** Whether the stream holds the whole body, for example because a reader has put it back. */
function isWhole({ headers, readableLength }: IncomingMessage): boolean {
  return readableLength > 0 && readableLength === Number(headers['content-length'])
}

/**
 * The part of {@link requireIntactBody} that is true also while the body is being read.
 *
 * @throws BodyFault when something has the body decoded to text
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
 * Call this when all of the body has been read. Node ensures that the client sends as many bytes as it has announced, so
 * another number means that something in the application has read or replaced some.
 *
 * @throws BodyFault when there were more or fewer bytes
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
 * {@link requireAnnouncedLength} for a body that is piped elsewhere. Call it before piping: then it calls `fail` with the fault
 * before the destination gets the end of the body.
 */
export function watchBodyLength(request: IncomingMessage, fail: (fault: BodyFault) => void): void {
  let size = 0
  request.on('data', (chunk: Buffer) => (size += chunk.length))
  request.once('end', () => {
    const fault = lengthFault(request, size)
    if (fault) fail(fault)
  })
}

const mostNames = 10_000
/** In bytes. */
const longestNames = 4 * 1024 ** 2

/**
 * The names in the body of `request`, a JSON array of strings. It does not check whether the names are allowed.
 *
 * @throws HttpProblem 400 for any other body, 413 for one that is too large or has too many names
 */
export async function readNames(request: IncomingMessage): Promise<readonly string[]> {
  const body = await readWholeBody(request, longestNames)
  if (body === undefined) throw problems.bodyTooLarge(longestNames)
  const data = parseJson(decodeUtf8(body))
  // Checked before the items: each wrong item costs memory.
  if (Array.isArray(data) && data.length > mostNames) throw problems.tooManyNames(mostNames)
  if (!isNames(data)) {
    throw problems.invalidField('body', 'it must be a JSON array of names such as ["a.txt"]')
  }
  return data
}

function isNames(data: unknown): data is readonly string[] {
  return Array.isArray(data) && data.every((name) => typeof name === 'string')
}

/** In bytes: a name has at most 255, of which JSON may write each as six, and a version 200. */
const longestObject = 4096

/** What a member of an object must be, and the words for it. */
interface MemberKind {
  readonly is: (value: unknown) => boolean
  readonly words: string
}

const kinds = {
  name: { is: isText, words: 'it must be a name' },
  newName: { is: isText, words: 'it must be the new name' },
  version: { is: isText, words: 'it must be a version' },
  flag: { is: (value) => typeof value === 'boolean', words: 'it must be true or false' },
} as const satisfies Readonly<Record<string, MemberKind>>

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** The kinds of all members that an object may have. */
type Shape = Readonly<Record<string, keyof typeof kinds>>

/** An object of a shape; each member may be missing. */
type Shaped<Members extends Shape> = {
  readonly [Member in keyof Members]?: Members[Member] extends 'flag' ? boolean : string
}

/** What a body must be. */
interface ObjectBody<Members extends Shape> {
  readonly shape: Members
  /** A whole body, for the message. */
  readonly example: string
  /** Whether an empty body stands for an empty object. Default: no. */
  readonly mayBeEmpty?: boolean
}

/**
 * The JSON object in the body of `request`. It has no members but those of the shape.
 *
 * @throws HttpProblem 400 for any other body
 */
export async function readObject<Members extends Shape>(
  request: IncomingMessage,
  { shape, example, mayBeEmpty = false }: ObjectBody<Members>,
): Promise<Shaped<Members>> {
  const body = await readWholeBody(request, longestObject)
  if (body === undefined) {
    throw problems.invalidField('body', `it is longer than ${longestObject} bytes`)
  }
  const data = mayBeEmpty && body.length === 0 ? {} : parseJson(decodeUtf8(body))
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  if (!isObject || Object.keys(data).some((member) => !Object.hasOwn(shape, member))) {
    throw problems.invalidField('body', `it must be JSON such as ${example}`)
  }
  for (const [member, value] of Object.entries(data)) {
    const { is, words } = kinds[shape[member] ?? 'name']
    if (!is(value)) throw problems.invalidField(member, words)
  }
  return data
}
