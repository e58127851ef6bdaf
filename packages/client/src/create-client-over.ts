import type { Link, Usage } from './api/description.ts'
import type { Client, ClientOptions, LinkClient, LinkClientOptions } from './client.ts'
import { deleteMany } from './calls/delete-many.ts'
import { download } from './calls/download.ts'
import { isHoldfastError, hasStoredNothing } from './shared/holdfast-error.ts'
import { listDetails, listNames, listPages } from './calls/list.ts'
import { baseOf, createCredentials, linkAccess } from './requests/access.ts'
import { jsonOf, type Request } from './requests/requests.ts'
import { ownAnswers } from './requests/own-answers.ts'
import { createSender } from './requests/sender.ts'
import { isLink, isUsage, type Shape } from './requests/shapes.ts'
import { withRetries } from './requests/with-retries.ts'
import { stat } from './calls/stat.ts'
import type { Transport } from './transport/transport.ts'
import { uploadMany } from './calls/upload-many.ts'
import { discardUpload } from './calls/upload-in-pieces.ts'
import { upload } from './calls/upload.ts'

/** Makes a client that sends its requests by `transport`. */
export function createClientOver(transport: Transport, options: ClientOptions): Client {
  const base = baseOf(options.url)
  const access = { base, query: '', credentials: createCredentials(options), mayRead: true }
  const { requests, patience } = createSender(access, transport, options)
  const askForJson = <T>(request: Omit<Request, 'expects'>, isRight: Shape): Promise<T> =>
    withRetries(patience, request.signal, async () =>
      jsonOf(await requests.send({ ...request, expects: ownAnswers.json }), isRight),
    )

  return {
    async ping({ signal } = {}) {
      const request = { url: requests.urlOf('ping'), expects: ownAnswers.pong, signal }
      await withRetries(patience, signal, () => requests.send(request))
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
      const request = { method: 'DELETE', url, expects: ownAnswers.deleted, keepalive, signal }
      let mayBeDeleted = false
      await withRetries(patience, signal, async () => {
        try {
          await requests.send(request)
        } catch (error) {
          // An earlier request deleted it, and its answer was lost.
          if (mayBeDeleted && isHoldfastError(error, 'not-found')) return
          mayBeDeleted ||= !(hasStoredNothing(error) || patience.isOutdated(error))
          throw error
        }
      })
    },

    deleteMany: (names, manyOptions = {}) => deleteMany(requests, patience, names, manyOptions),

    async discardUpload(url, { signal } = {}) {
      await withRetries(patience, signal, () => discardUpload(requests, new URL(url), signal))
    },

    async link(name, { signal, ...request } = {}) {
      const asked = {
        method: 'POST',
        url: requests.urlOfFile('link', name),
        headers: { 'Content-Type': 'application/json' },
        body: new TextEncoder().encode(JSON.stringify(request)),
        signal,
      }
      const { url, expires } = await askForJson<Link>(asked, isLink)
      return { url: ownAddress(url, requests.urlOf('')), expires: new Date(expires) }
    },

    usage: ({ signal } = {}) =>
      askForJson<Usage>({ url: requests.urlOf('usage'), signal }, isUsage),
  }
}

/** The link at the address that this client has: a proxy may have hidden it from the server. */
function ownAddress(url: string, base: URL): string {
  const { pathname, search } = new URL(url, base)
  // Names have no slash, so these are the last two segments.
  const [path = ''] = /[^/]+\/[^/]*$/.exec(pathname) ?? []
  return new URL(path + search, base).href
}

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
