import type { Link, Usage } from './api/description.ts'
import type { Client, ClientOptions } from './client.ts'
import { download } from './download/download.ts'
import { isHoldfastError } from './errors/holdfast-error.ts'
import { listDetails, listNames, listPages } from './list/list.ts'
import { createCredentials } from './requests/credentials.ts'
import { createRequests, textOf, type Request } from './requests/requests.ts'
import { withRetries } from './requests/with-retries.ts'
import { stat } from './stat/stat.ts'
import type { Transport } from './transport/transport.ts'
import { uploadMany } from './upload-many/upload-many.ts'
import { discardUpload } from './upload/discard-upload.ts'
import { upload } from './upload/upload.ts'

const defaultIdleTimeoutMs = 120_000
const defaultRetries = 6

/** Makes a client that sends its requests by `transport`. */
export function createClientOver(transport: Transport, options: ClientOptions): Client {
  const { retries = defaultRetries, onRetry, idleTimeoutMs = defaultIdleTimeoutMs } = options
  if (!(Number.isInteger(retries) && retries >= 0)) {
    throw new RangeError('retries must be a whole number from 0')
  }
  if (!(idleTimeoutMs > 0)) throw new RangeError('idleTimeoutMs must be above 0')
  const credentials = createCredentials(options)
  const requests = createRequests(options.url, credentials, transport, idleTimeoutMs)
  const patience = { retries, onRetry, isOutdated: credentials.isOutdated }
  const ask = (request: Request): Promise<string> =>
    withRetries(patience, request.signal, async () => textOf(await requests.send(request)))

  return {
    async ping({ signal } = {}) {
      await ask({ url: requests.urlOf('ping'), signal })
    },
    upload: (name, body, uploadOptions = {}) =>
      upload(requests, patience, name, body, uploadOptions),
    uploadMany: (files, manyOptions = {}) => uploadMany(requests, patience, files, manyOptions),
    download: (name, downloadOptions = {}) => download(requests, patience, name, downloadOptions),
    list: (listOptions = {}) => listNames(requests, patience, listOptions),
    listPages: (pageOptions = {}) => listPages(requests, patience, pageOptions),
    listDetails: (listOptions = {}) => listDetails(requests, patience, listOptions),

    stat: (name, statOptions = {}) => stat(requests, patience, name, statOptions),

    async delete(name, { signal, keepalive = false } = {}) {
      const url = requests.urlOfFile('delete', name)
      let isRepeated = false
      await withRetries(patience, signal, async () => {
        try {
          await textOf(await requests.send({ method: 'DELETE', url, keepalive, signal }))
        } catch (error) {
          // The first request deleted it, and its answer was lost.
          if (isRepeated && isHoldfastError(error, 'not-found')) return
          isRepeated = true
          throw error
        }
      })
    },

    async discardUpload(url, { signal } = {}) {
      await withRetries(patience, signal, () => discardUpload(requests, new URL(url), signal))
    },

    async link(name, { signal, ...request } = {}) {
      const answer = await ask({
        method: 'POST',
        url: requests.urlOfFile('link', name),
        headers: { 'Content-Type': 'application/json' },
        body: new TextEncoder().encode(JSON.stringify(request)),
        signal,
      })
      const { url, expires } = JSON.parse(answer) as Link
      return { url: new URL(url, requests.urlOf('')).href, expires: new Date(expires) }
    },

    usage: async ({ signal } = {}) =>
      JSON.parse(await ask({ url: requests.urlOf('usage'), signal })) as Usage,
  }
}
