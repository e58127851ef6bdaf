import type { LinkClient, LinkClientOptions } from './client.ts'
import { linkAccess } from './requests/link-access.ts'
import { createSender } from './requests/sender.ts'
import { withRetries } from './requests/with-retries.ts'
import type { Transport } from './transport/transport.ts'
import { discardUpload } from './upload/discard-upload.ts'
import { upload } from './upload/upload.ts'

/** Makes a client of a link to upload that sends its requests by `transport`. */
export function createLinkClientOver(
  transport: Transport,
  { link, ...options }: LinkClientOptions,
): LinkClient {
  const { requests, patience } = createSender(linkAccess(link), transport, options)
  return {
    upload: (name, body, { createOnly = true, ...uploadOptions } = {}) =>
      upload(requests, patience, name, body, { ...uploadOptions, createOnly }),

    async discardUpload(url, { signal } = {}) {
      await withRetries(patience, signal, () => discardUpload(requests, new URL(url), signal))
    },
  }
}
