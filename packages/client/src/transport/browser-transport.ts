import { HoldfastError } from '../errors/holdfast-error.ts'
import { chunksOf } from '../streams/chunks-of.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

/**
 * Sends by `fetch`, and bodies by `XMLHttpRequest`, the only one that says how much of them has gone out. It gives the answer as
 * a whole.
 */
export const browserTransport: Transport = (request) =>
  request.body === undefined || request.isAnsweredInPieces === true
    ? sendByFetch(request)
    : sendByXhr(request)

async function sendByFetch({
  method,
  url,
  headers,
  body,
  keepalive = false,
  signal,
}: TransportRequest): Promise<TransportResponse> {
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body: body as Blob | Uint8Array<ArrayBuffer> }),
    keepalive,
    signal,
    cache: 'no-store',
    redirect: 'error',
  })
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: chunksOf(response.body ?? new Blob().stream()),
  }
}

function sendByXhr({
  method,
  url,
  headers,
  body,
  signal,
  onSent,
}: TransportRequest): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    if (!(body instanceof Blob || body instanceof Uint8Array)) {
      throw new HoldfastError(
        'unknown-path',
        'The server takes no uploads in pieces, and browsers send no streams in one',
      )
    }
    const request = new XMLHttpRequest()
    request.open(method, url)
    request.responseType = 'arraybuffer'
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => onSent?.(loaded)
    const abort = () => {
      request.abort()
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    request.onerror = () => reject(new TypeError('The connection failed'))
    request.onload = () =>
      resolve({
        status: request.status,
        header: (name) => request.getResponseHeader(name) ?? undefined,
        body: chunksOf(new Blob([request.response as ArrayBuffer]).stream()),
      })
    request.send(body as Blob | Uint8Array<ArrayBuffer>)
  })
}
