import { chunksOf } from '../streams/chunks-of.ts'
import type { RereadableBody, UploadBody } from './upload-options.ts'

/** What is to be uploaded: something that can be read again, or a stream, which is cancelled when `over` is aborted. */
export function contentOf(
  body: UploadBody,
  over: AbortSignal,
): RereadableBody | AsyncIterable<Uint8Array> {
  if (typeof body === 'string') return bytesBody(new TextEncoder().encode(body))
  if (body instanceof ArrayBuffer) return bytesBody(new Uint8Array(body))
  if (ArrayBuffer.isView(body)) {
    return bytesBody(new Uint8Array(body.buffer, body.byteOffset, body.byteLength))
  }
  if ('getReader' in body) return chunksOf(body, over)
  return body
}

export function bytesBody(bytes: Uint8Array): RereadableBody {
  return { size: bytes.length, slice: (start, end) => bytes.subarray(start, end) }
}
