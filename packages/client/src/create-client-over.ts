import type { FileDetails, Link, Usage } from './api/description.ts'
import type { Client, ClientOptions } from './client.ts'
import { download } from './download/download.ts'
import { HoldfastError, isHoldfastError } from './errors/holdfast-error.ts'
import { listDetails, listNames } from './list/list.ts'
import { createRequests, textOf, type Request } from './requests/requests.ts'
import { withRetries } from './requests/with-retries.ts'
import type { Transport } from './transport/transport.ts'
import { uploadMany } from './upload-many/upload-many.ts'
import { upload } from './upload/upload.ts'

const defaultIdleTimeoutMs = 120_000
const defaultRetries = 6
/** Timers run at once beyond it. */
const longestTimeoutMs = 2 ** 31 - 1

/** Makes a client that sends its requests by `transport`. */
export function createClientOver(transport: Transport, options: ClientOptions): Client {
  const { retries = defaultRetries, onRetry, idleTimeoutMs = defaultIdleTimeoutMs } = options
  if (!(Number.isInteger(retries) && retries >= 0)) {
    throw new RangeError('retries must be a whole number from 0')
  }
  if (!(idleTimeoutMs > 0)) throw new RangeError('idleTimeoutMs must be above 0')
  const requests = createRequests(options, transport, Math.min(idleTimeoutMs, longestTimeoutMs))
  const patience = { retries, onRetry }
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
    listDetails: (listOptions = {}) => listDetails(requests, patience, listOptions),

    async stat(name, { signal } = {}) {
      // An answer to HEAD has whole seconds, and no words if it is an error.
      const url = requests.urlOf('list')
      url.search = new URLSearchParams({ details: '1', limit: '1', prefix: name }).toString()
      const [first] = JSON.parse(await ask({ url, signal })) as readonly FileDetails[]
      if (first?.name === name) return first
      throw new HoldfastError('not-found', 'File not found', { status: 400 })
    },

    async delete(name, { signal } = {}) {
      const url = requests.urlOfFile('delete', name)
      let isRepeated = false
      await withRetries(patience, signal, async () => {
        try {
          await textOf(await requests.send({ method: 'DELETE', url, signal }))
        } catch (error) {
          // The first request deleted it, and its answer was lost.
          if (isRepeated && isHoldfastError(error, 'not-found')) return
          isRepeated = true
          throw error
        }
      })
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
