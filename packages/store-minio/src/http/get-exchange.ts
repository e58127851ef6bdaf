import { contentLengthOf, parseResponseHead, type ResponseHead } from './response-head.ts'
import type { StoreBody } from './store-body.ts'

/** The answer to a GET whose length was told. */
export interface GetAnswer {
  readonly head: ResponseHead
  /** Of the body, in bytes. */
  readonly length: number
  readonly body: StoreBody
}

/** A head that is longer is none of S3. */
const maxHeadSize = 64 * 1024

const headEnd = '\r\n\r\n'

/** One request and its answer. */
export interface GetExchange {
  /** Takes bytes that are in `buffer`; `kept` until the buffer is released, or `done with`. @throws Error for nonsense */
  readonly take: (bytes: Buffer, buffer: Uint8Array) => 'kept' | 'done with'
  /** How many bytes of the body have not come yet; 0 before the head has. */
  readonly expected: () => number
  /** Since when somebody waits for bytes, by `performance.now()`; `undefined` while nobody does. */
  readonly waitingSince: () => number | undefined
  readonly fail: (error: Error) => void
}

export interface GetExchangeOptions {
  readonly resolve: (answer: GetAnswer) => void
  readonly reject: (error: Error) => void
  /** What was read into the buffer is done with. */
  readonly release: (buffer: Uint8Array) => void
  /** The answer has been taken to its end. */
  readonly finish: (head: ResponseHead) => void
  readonly destroy: () => void
}

/** An exchange that is to begin with the next bytes of the connection. */
export function createGetExchange(options: GetExchangeOptions): GetExchange {
  let headBytes = Buffer.alloc(0)
  const begunAt = performance.now()
  let body: Body | undefined

  const takeHead = (bytes: Buffer, buffer: Uint8Array): 'kept' | 'done with' => {
    const known = headBytes.length
    const all = known === 0 ? bytes : Buffer.concat([headBytes, bytes])
    const end = all.indexOf(headEnd)
    if (end < 0) {
      if (all.length > maxHeadSize) throw new Error('The head has no end')
      headBytes = Buffer.from(all)
      return 'done with'
    }
    const head = parseResponseHead(all.toString('latin1', 0, end))
    const length = contentLengthOf(head)
    if (length === undefined) throw new Error('The store does not tell the length of its answer')
    const created = createBody(length, head, options)
    const rest = bytes.subarray(end + headEnd.length - known)
    const fate = rest.length > 0 ? created.take(rest, buffer) : 'done with'
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
      if (left < 0) throw new Error('The store sends more than it told')
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
