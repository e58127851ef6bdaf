import {
  type Client,
  type ClientOptions,
  type LinkClient,
  type LinkClientOptions,
  createClientOver,
  createLinkClientOver,
} from './client.ts'
import { requireOptions } from './shared/require.ts'
import { browserTransport } from './transport/browser-transport.ts'

export type * from './index.ts'
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
