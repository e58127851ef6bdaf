import { HoldfastError } from '../shared/holdfast-error.ts'
import { chunksOf } from '../shared/chunks.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

/**
 * Sends by `fetch`, which does not report how much of a body has been sent. `XMLHttpRequest` does, but follows redirects, also to other
 * servers, which would get the password.
 */
export const browserTransport: Transport = Object.assign(send, { isSilent: true })

async function send({
  method,
  url,
  headers,
  body,
  keepalive = false,
  signal,
}: TransportRequest): Promise<TransportResponse> {
  if (!(body === undefined || body instanceof Blob || body instanceof Uint8Array)) {
    throw new HoldfastError(
      'unknown-path',
      'The server accepts no uploads in pieces, and browsers cannot send a stream in one request',
    )
  }
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body: body as Blob | Uint8Array<ArrayBuffer> }),
    keepalive,
    signal,
    cache: 'no-store',
    redirect: 'manual',
  })
  if (response.type === 'opaqueredirect') {
    throw new HoldfastError(
      'unknown',
      'The server redirects to another address, which must not get the password',
    )
  }
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: chunksOf(response.body ?? new Blob().stream()),
  }
}
