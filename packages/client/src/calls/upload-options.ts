import { kindOf } from '../shared/require.ts'
import { chunksOf } from '../shared/chunks.ts'

/** A running SHA-256; a `Hash` of `node:crypto` is one, and `sha256.create()` of `@noble/hashes`, too. */
export interface RunningSha256 {
  update(bytes: Uint8Array): unknown
  digest(): Uint8Array
}

/** Content that can be read at any place, as often as the line breaks: a `Blob`, a `File`, what `openFile` opens. */
export interface RereadableBody {
  readonly size: number
  slice(start: number, end: number): Blob | Uint8Array | AsyncIterable<Uint8Array>
}

/**
 * What can be uploaded. Strings become UTF-8. Of a stream 8 MiB are held in memory at a time, of everything that can be read again
 * nothing.
 */
export type UploadBody =
  | string
  | ArrayBuffer
  | ArrayBufferView
  | RereadableBody
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

export interface UploadProgress {
  /** Bytes that have been sent. Fewer than before where the line broke and the server has not got all of them. */
  readonly sent: number
  /** Of the file; `undefined` for a stream whose end has not been seen. */
  readonly size: number | undefined
}

/** What is known of a file once it is safe. */
export interface UploadedFile {
  /**
   * Its `ETag`, with its quotes, by the answer that said that it is safe: another client may have replaced it since. `undefined` where the
   * server, an older one, does not say it.
   */
  readonly etag: string | undefined
}

export interface UploadOptions {
  /** Whether to fail with `already-exists` where the name is taken, instead of replacing the file. Default: false. */
  readonly createOnly?: boolean | undefined
  /** What the content must be, in hexadecimal; otherwise `digest-mismatch`, and nothing has changed. */
  readonly sha256?: string | undefined
  /**
   * How many bytes go in one request at most when content that can be read again goes in pieces: fewer for a proxy that takes no larger
   * bodies. Default: 64 MiB at first, then what the last piece's pace brings in 10 seconds, sixteen times as many at most; where a piece
   * of more than 64 MiB fails, 64 MiB from then on. In browsers 1 MiB at first, then what 2 seconds bring, at most 16 MiB.
   */
  readonly pieceSize?: number | undefined
  /**
   * Called as the upload goes on. What it throws ends the upload as `signal` does, and `upload` rejects with it: the name keeps what it
   * had, unless the server has got everything already.
   */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  /**
   * Called when content that can be read again goes in pieces, and the server has all of it but the last byte: whether it is still the
   * content with which the upload began is known only then. What it throws ends the upload, and `upload` rejects with it: the name keeps
   * what it had. Default: no call.
   */
  readonly beforeLast?: (() => Promise<void>) | undefined
  /** Ends the upload; the name keeps what it had, unless the server has got everything already. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called with the URL of the upload when it goes in pieces. Whoever keeps that can go on later, in another process, too; so the
   * server keeps what has arrived when this one fails. Without this function it discards that.
   */
  readonly onUploadUrl?: ((url: string) => void) | undefined
  /**
   * The URL of an upload of the same content to go on with. Where the server does not know it any more, or it is one of another name,
   * size or `sha256`, a new one begins. Whether it only creates stays as it began. A URL of another server is refused with a `TypeError`.
   * Streams cannot go on so.
   */
  readonly uploadUrl?: string | undefined
  /**
   * A fresh SHA-256, such as `() => createHash('sha256')` of `node:crypto`. With it the upload at `uploadUrl` goes on only if what the
   * server has of it is the beginning of this content: that is read once more, and otherwise a new upload begins, also where the server
   * is an older one, which does not say the digest. Default: whoever gives `uploadUrl` knows that.
   */
  readonly createSha256?: (() => RunningSha256) | undefined
}

/**
 * What is to be uploaded: something that can be read again, or a stream, which is cancelled when `over` is aborted.
 *
 * @throws TypeError when it is neither
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
      `AsyncIterable of Uint8Array, not ${kindOf(body)}${cure(body)}`,
  )
}

/** Whether `value` has members that can be asked for. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function cure(body: unknown): string {
  return body instanceof Promise ? ': await it first' : ''
}

export function bytesBody(bytes: Uint8Array): RereadableBody {
  return { size: bytes.length, slice: (start, end) => bytes.subarray(start, end) }
}
