import { kindOf } from '../shared/require.ts'
import { chunksOf } from '../shared/transport.ts'

/** A running SHA-256, such as a `Hash` of `node:crypto`, or `sha256.create()` of `@noble/hashes`. */
export interface RunningSha256 {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
}

/** Content that can be read from any offset, again after each broken connection: a `Blob`, a `File`, the result of `openFile`. */
export interface RereadableBody {
  readonly size: number
  slice(start: number, end: number): Blob | Uint8Array | AsyncIterable<Uint8Array>
}

/**
 * What can be uploaded. Strings become UTF-8. Of a stream, 8 MiB are held in memory at a time; content that can be read again takes no
 * memory.
 */
export type UploadBody =
  | string
  | ArrayBuffer
  | ArrayBufferView
  | RereadableBody
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

export interface UploadProgress {
  /** Bytes that have been sent. The number falls if the connection broke and the server has not received all of them. */
  readonly sent: number
  /** The size of the file; `undefined` for a stream before its end. */
  readonly size: number | undefined
}

/** What is known about a file once it is safe. */
export interface UploadedFile {
  /**
   * Its `ETag`, with its quotes, as in the answer that confirmed that it is safe; another client may have replaced the file since.
   * `undefined` if the server is an older one that does not send it.
   */
  readonly etag: string | undefined
}

export interface UploadOptions {
  /** Whether to fail with `already-exists` if the name is taken, instead of replacing the file. Default: false. */
  readonly createOnly?: boolean | undefined
  /** The SHA-256 that the content must have, in hexadecimal; otherwise `digest-mismatch`, and nothing has changed. */
  readonly sha256?: string | undefined
  /**
   * The most bytes in one request when content that can be read again is uploaded in pieces: set it for a proxy that limits bodies.
   * Default: 64 MiB at first, then what the last piece's speed brings in 10 seconds, at most sixteen times the piece before; once a piece
   * of more than 64 MiB fails, always 64 MiB. In browsers 1 MiB at first, then what 2 seconds bring, at most 16 MiB.
   */
  readonly pieceSize?: number | undefined
  /**
   * Called as the upload progresses. If it throws, the upload ends as by `signal`, and `upload` rejects with that error: the file of this
   * name is unchanged, unless the server has received everything already.
   */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  /**
   * Called when content that can be read again is uploaded in pieces, and the server has all of it except the last byte: only then it is
   * known whether the content has stayed the same since the beginning. If it throws, the upload ends, and `upload` rejects with that
   * error: the file of this name is unchanged. Default: no call.
   */
  readonly beforeLast?: (() => Promise<void>) | undefined
  /** Ends the upload; the file of this name is unchanged, unless the server has received everything already. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called with the URL of an upload in pieces. The caller may keep it and resume the upload later, in another process, too, so the server
   * keeps the bytes if this upload fails. Without this function the client discards them.
   */
  readonly onUploadUrl?: ((url: string) => void) | undefined
  /**
   * The URL of an upload of the same content, to resume it. If the server does not know it any more, or it has another name, size or
   * `sha256`, a new upload begins. Its `createOnly` stays as it began. A URL of another server is refused with a `TypeError`. Streams
   * cannot be resumed this way.
   */
  readonly uploadUrl?: string | undefined
  /**
   * Makes a new SHA-256, such as `() => createHash('sha256')` of `node:crypto`. With it, the upload at `uploadUrl` is resumed only if the
   * server's bytes are the beginning of this content, which is read once more. Otherwise a new upload begins, also if the server is an
   * older one, which does not send the digest. Default: the caller guarantees it by giving `uploadUrl`.
   */
  readonly createSha256?: (() => RunningSha256) | undefined
}

/**
 * The content of `body`: something that can be read again, or a stream, which is cancelled when `over` aborts.
 *
 * @throws TypeError if it is neither
 */
export function contentOf(
  body: UploadBody,
  over: AbortSignal,
): RereadableBody | AsyncIterable<Uint8Array> {
  if (typeof body === 'string') return bytesBody(new TextEncoder().encode(body))
  if (body instanceof ArrayBuffer) return bytesBody(new Uint8Array(body))
  if (ArrayBuffer.isView(body)) {
    return bytesBody(new Uint8Array(body.buffer, body.byteOffset, body.byteLength))
  }
  if (isObject(body) && 'getReader' in body) return chunksOf(body, over)
  if (isObject(body) && (Symbol.asyncIterator in body || 'slice' in body)) return body
  throw new TypeError(
    'The body must be a string, an ArrayBuffer or a view of one, a Blob, what openFile opens, a ReadableStream or an ' +
      `AsyncIterable of Uint8Array, not ${kindOf(body)}${remedyFor(body)}`,
  )
}

/** Whether `value` can have members. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function remedyFor(body: unknown): string {
  return body instanceof Promise ? ': await it first' : ''
}

export function bytesBody(bytes: Uint8Array): RereadableBody {
  return { size: bytes.length, slice: (start, end) => bytes.subarray(start, end) }
}
