import { kindOf } from '../shared/require.ts'
import { chunksOf } from '../shared/chunks.ts'
import type { RereadableBody, UploadBody } from './upload-options.ts'

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
