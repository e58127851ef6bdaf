import type { Readable } from 'node:stream'

/** The answer to a GET, with a known length. */
export interface GetAnswer {
  readonly head: ResponseHead
  /** Of the body, in bytes. */
  readonly length: number
  readonly body: StoreBody
}

/** In bytes. S3 servers send heads that are far shorter. */
const maxHeadSize = 64 * 1024

const headEnd = '\r\n\r\n'

/** One request and its answer on a connection. */
export interface GetExchange {
  /**
   * Takes the next bytes, which lie in `buffer`. `kept`: the buffer is in use until `release` is called for it; `released`:
   * it is free at once. @throws Error if the bytes are no valid answer
   */
  readonly take: (bytes: Buffer, buffer: Uint8Array) => 'kept' | 'released'
  /** The number of bytes of the body that have not come yet; 0 before the head has come. */
  readonly expected: () => number
  /** When the reader began to wait for bytes, by `performance.now()`; `undefined` while it does not wait. */
  readonly waitingSince: () => number | undefined
  readonly fail: (error: Error) => void
}

export interface GetExchangeOptions {
  readonly resolve: (answer: GetAnswer) => void
  readonly reject: (error: Error) => void
  /** Called when the reader no longer needs what was read into the buffer. */
  readonly release: (buffer: Uint8Array) => void
  /** Called when the reader has read the answer completely. */
  readonly finish: (head: ResponseHead) => void
  readonly destroy: () => void
}

/** Creates an exchange whose answer begins with the next byte of the connection. */
export function createGetExchange(options: GetExchangeOptions): GetExchange {
  let headBytes = Buffer.alloc(0)
  const begunAt = performance.now()
  let body: Body | undefined

  const takeHead = (bytes: Buffer, buffer: Uint8Array): 'kept' | 'released' => {
    const known = headBytes.length
    const all = known === 0 ? bytes : Buffer.concat([headBytes, bytes])
    const end = all.indexOf(headEnd)
    if (end < 0) {
      if (all.length > maxHeadSize) throw new Error('The head has no end')
      headBytes = Buffer.from(all)
      return 'released'
    }
    const head = parseResponseHead(all.toString('latin1', 0, end))
    const length = contentLengthOf(head)
    if (length === undefined) throw new Error('The store sends an answer without a length')
    const created = createBody(length, head, options)
    const rest = bytes.subarray(end + headEnd.length - known)
    const fate = rest.length > 0 ? created.take(rest, buffer) : 'released'
    body = created
    options.resolve({ head, length, body })
    return fate
  }

  return {
    take: (bytes, buffer) => (body ? body.take(bytes, buffer) : takeHead(bytes, buffer)),
    expected: () => body?.expected() ?? 0,
    waitingSince: () => (body ? body.waitingSince() : begunAt),
    fail: (error) => (body ? body.fail(error) : options.reject(error)),
  }
}

interface Body extends StoreBody, GetExchange {}

interface Chunk {
  readonly bytes: Buffer
  readonly buffer: Uint8Array
}

function createBody(
  length: number,
  head: ResponseHead,
  { release, finish, destroy }: GetExchangeOptions,
): Body {
  const chunks: Chunk[] = []
  let left = length
  let taken: Chunk | undefined
  let waiting: PromiseWithResolvers<Uint8Array | undefined> | undefined
  let waitingSince = 0
  let failure: Error | undefined
  let isFinished = false

  const give = (chunk: Chunk): Uint8Array => {
    taken = chunk
    return chunk.bytes
  }
  const end = (): undefined => {
    if (!isFinished) finish(head)
    isFinished = true
  }

  return {
    take: (bytes, buffer) => {
      left -= bytes.length
      if (left < 0) throw new Error('The store sends more than the length of its answer')
      const chunk = { bytes, buffer }
      if (waiting) waiting.resolve(give(chunk))
      else chunks.push(chunk)
      waiting = undefined
      return 'kept'
    },
    next: async () => {
      if (taken) release(taken.buffer)
      taken = undefined
      const chunk = chunks.shift()
      if (chunk) return give(chunk)
      if (left === 0) return end()
      if (failure) throw failure
      waitingSince = performance.now()
      waiting = Promise.withResolvers()
      return waiting.promise
    },
    destroy: () => {
      if (!isFinished) destroy()
    },
    expected: () => left,
    waitingSince: () => waiting && waitingSince,
    fail: (error) => {
      failure = error
      waiting?.reject(error)
    },
  }
}

/** The head of an HTTP/1.1 response. */
export interface ResponseHead {
  readonly status: number
  /** By names in lower case. The values of a field that occurs twice are joined by a comma (RFC 9110 §5.2). */
  readonly headers: ReadonlyMap<string, string>
}

const statusLine = /^HTTP\/1\.1 (\d{3})(?: |$)/
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Parses a head without its empty last line. @throws Error if it is malformed (RFC 9112 §4 and §5) */
export function parseResponseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, status] = statusLine.exec(first) ?? []
  if (status === undefined) throw malformed()
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    if (!fieldName.test(name)) throw malformed()
    const value = line.slice(colon + 1).trim()
    const known = headers.get(name)
    headers.set(name, known === undefined ? value : `${known}, ${value}`)
  }
  return { status: Number(status), headers }
}

/**
 * The length of the body, in bytes; `undefined` if the head does not contain it, as with chunks or a body that ends with the connection
 * (RFC 9112 §6.3).
 */
export function contentLengthOf({ status, headers }: ResponseHead): number | undefined {
  // A 304 has no body; its Content-Length, if any, is that of the object (RFC 9110 §8.6).
  if (status === 304) return 0
  const length = headers.get('content-length') ?? ''
  if (headers.has('transfer-encoding') || !/^\d{1,15}$/.test(length)) return undefined
  return Number(length)
}

function malformed(): Error {
  return Object.assign(new Error('The store does not answer in HTTP/1.1'), { code: 'EPROTO' })
}

/** The body of an answer of the store, read piece by piece. */
export interface StoreBody {
  /**
   * Resolves with the next bytes, at least one, or with `undefined` at the end. They are valid until the next call, which
   * may overwrite them. The caller waits until one call has settled before it makes the next.
   */
  readonly next: () => Promise<Uint8Array | undefined>
  /** Drops the rest. Not needed after the end. */
  readonly destroy: () => void
  /** The whole body, if it is in memory; these bytes are never overwritten. */
  readonly bytes?: Uint8Array
}

/** Makes a body of bytes in memory. */
export function inMemory(bytes: Uint8Array): StoreBody {
  const chunks = bytes.length > 0 ? [bytes] : []
  return { bytes, next: async () => chunks.shift(), destroy: () => {} }
}

/** Makes a body of a Node stream. */
export function fromReadable(stream: Readable): StoreBody {
  // Without a listener an error would end the process; the iterator throws it when the body is read.
  stream.on('error', () => {})
  const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  return {
    next: async () => {
      const step = await chunks.next()
      return step.done === true ? undefined : step.value
    },
    destroy: () => stream.destroy(),
  }
}
