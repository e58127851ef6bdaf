import { isBytes, kindOf } from './require.ts'

/**
 * The content of an upload: bytes, such as a `Buffer`; a string, which is stored as UTF-8; a `Blob` or `File`; a `Response` of
 * `fetch`; a `ReadableStream`; and anything else that yields bytes, such as a Node `Readable` without an encoding or an async
 * generator. The caller must not change bytes or chunks before the upload has settled.
 */
export type UploadContent =
  | Uint8Array
  | string
  | AsyncIterable<Uint8Array>
  | WebStream
  | WebBlob
  | WebResponse

// The types of the web differ between browsers and Node, and are missing where neither are installed.

/** The members of a `ReadableStream` that are used here. */
export interface WebStream {
  getReader(): WebStreamReader
}

/** The members of a {@link WebStream}'s reader that are used here. */
export interface WebStreamReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<unknown>
}

/** The members of a `Blob` that are used here. */
export interface WebBlob {
  readonly size: number
  stream(): AsyncIterable<Uint8Array> | WebStream
}

/** The members of a `Response` that are used here. */
export interface WebResponse {
  readonly ok: boolean
  readonly status: number
  readonly bodyUsed: boolean
  readonly body: AsyncIterable<Uint8Array> | WebStream | null
}

/** Content that is ready to be read. */
export interface ReadableContent {
  readonly chunks: AsyncIterable<Uint8Array>
  /** In bytes, if it is known. */
  readonly size?: number
}

/**
 * `content` as chunks. It reads nothing yet; the caller must still check each chunk by `requireBytes`.
 *
 * @throws TypeError that says what was passed and what to pass, when `content` is of another kind, or was read before
 */
export function readableContent(content: UploadContent): ReadableContent {
  if (typeof content === 'string') return once(utf8(content))
  if (isBytes(content)) return once(content)
  if (isObject(content)) {
    if (Symbol.asyncIterator in content) return { chunks: unread(content) }
    if ('getReader' in content) return { chunks: fromReader(content) }
    if ('stream' in content) {
      return { ...readableContent(content.stream()), size: content.size }
    }
    if ('bodyUsed' in content) return bodyOf(content)
  }
  throw new TypeError(
    'Content must be a Uint8Array, a string, a Blob, a Response, a ReadableStream or an AsyncIterable of ' +
      `Uint8Array, such as a Node stream, not ${kindOf(content)}${cure(content)}`,
  )
}

function isObject(content: unknown): content is object {
  return typeof content === 'object' && content !== null
}

function cure(content: unknown): string {
  if (content instanceof Promise) return ': await it first'
  return content instanceof ArrayBuffer ? ': pass new Uint8Array(buffer)' : ''
}

function once(bytes: Uint8Array): ReadableContent {
  return { chunks: yieldOnce(bytes), size: bytes.length }
}

async function* yieldOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

function utf8(text: string): Uint8Array {
  if (text.isWellFormed()) return new TextEncoder().encode(text)
  throw new TypeError(
    'A string with a lone surrogate has no UTF-8, and would be changed: pass its bytes instead',
  )
}

/** The members of a Node stream that are used here; other iterables do not have them. */
interface NodeStream {
  readonly readableDidRead?: boolean
  readonly readableEnded?: boolean
}

/** `stream`. Refuses a Node stream that was read to its end: it would become an empty file. */
function unread(stream: AsyncIterable<Uint8Array> & NodeStream): AsyncIterable<Uint8Array> {
  if (stream.readableDidRead === true && stream.readableEnded === true) {
    throw new TypeError('The stream has been read to its end before: pass it before others read it')
  }
  return stream
}

function bodyOf({ ok, status, bodyUsed, body }: WebResponse): ReadableContent {
  if (bodyUsed) throw new TypeError("The response's body has been read before")
  if (!ok) {
    throw new TypeError(
      `The response has the status ${status}: pass response.body if that is what is to be stored`,
    )
  }
  return body === null ? once(new Uint8Array()) : readableContent(body)
}

async function* fromReader(stream: WebStream): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  let isOpen = true
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) {
        isOpen = false
        return
      }
      // The caller checks each chunk; see `readableContent`.
      yield value as Uint8Array
    }
  } finally {
    // Not awaited: the source may be stalled, or may have failed.
    if (isOpen) reader.cancel().catch(() => {})
  }
}
