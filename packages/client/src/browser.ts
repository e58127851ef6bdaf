import {
  type Client,
  type ClientOptions,
  type LinkClient,
  type LinkClientOptions,
  createClientOver,
  createLinkClientOver,
} from './client.ts'
import {
  chunksOf,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './shared/transport.ts'
import { HoldfastError } from './shared/holdfast-error.ts'
import { requireOptions } from './shared/require.ts'

export type * from './index.ts'
export { pageOfLink } from './client.ts'
export { concernsAllFiles, HoldfastError, isHoldfastError } from './shared/holdfast-error.ts'
export {
  folderTitle,
  foldersFromName,
  nameFromPath,
  numberedName,
  prefixFromPath,
} from './shared/names.ts'
export { isTransient } from './requests/with-retries.ts'

/** Same as the function of this name for Node. */
export function createClient(options: ClientOptions): Client {
  requireOptions('createClient({ url, name, password })', options)
  return createClientOver(options.transport ?? browserTransport, options)
}

/** Same as the function of this name for Node. */
export function createLinkClient(options: LinkClientOptions): LinkClient {
  requireOptions('createLinkClient({ link })', options)
  return createLinkClientOver(options.transport ?? browserTransport, options)
}

/** Browsers cannot open paths; a `File` can be uploaded as it is. */
export function openFile(): never {
  throw new TypeError('Browsers cannot open paths; upload a File')
}

/** Browsers decide themselves how fast a body moves. */
export function createThrottledTransport(): never {
  throw new TypeError('Browsers cannot limit the rate of transfers')
}

/**
 * Sends by `fetch`, which does not report how much of a body has been sent. `XMLHttpRequest` does, but follows redirects, also to other
 * servers, which would get the password.
 */
const browserTransport: Transport = Object.assign(send, { isSilent: true })

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
