import type {
  DeletedFile,
  FileDetails,
  FileVersion,
  LinkRequest,
  Usage,
  Link,
} from './api/description.ts'
import {
  type DeleteOptions,
  type FileDeleted,
  deleteMany,
  type RenameOptions,
  rename,
} from './calls/rename-and-delete.ts'
import { type Download, type DownloadOptions, download } from './calls/download.ts'
import {
  type DownloadManyOptions,
  type FileToDownload,
  downloadMany,
} from './calls/download-many.ts'
import { type HoldfastError, isHoldfastError, hasStoredNothing } from './shared/holdfast-error.ts'
import {
  type RestoreOptions,
  type VersionsOptions,
  listDeleted,
  listVersions,
  restore,
} from './calls/history.ts'
import {
  type ListOptions,
  type PageOptions,
  listDetails,
  listNames,
  listPages,
} from './calls/list.ts'
import { type SendingOptions, createSender, jsonOf, type Request } from './requests/requests.ts'
import { type StatOptions, stat } from './calls/stat.ts'
import {
  type FileToUpload,
  type FileUploaded,
  type UploadManyOptions,
  uploadMany,
} from './calls/upload-many.ts'
import type { UploadBody, UploadedFile, UploadOptions } from './calls/upload-options.ts'
import { baseOf, createCredentials, linkAccess } from './requests/access.ts'
import { expectedAnswers, isLink, isUsage, type Shape } from './requests/answers.ts'
import { withRetries } from './requests/with-retries.ts'
import type { Transport } from './shared/transport.ts'
import { discardUpload } from './calls/upload-in-pieces.ts'
import { upload } from './calls/upload.ts'

export interface ClientOptions extends SendingOptions {
  /** The address of the service, such as `https://files.example.com` or `https://example.com/files`. */
  readonly url: string | URL
  /** The customer. */
  readonly name: string
  /** The password, or a function that returns it, called before each request. If it throws, the request ends. */
  readonly password: string | (() => string)
  /**
   * Called when the server refuses the name or the password. If the password has changed meanwhile, the client first tries the new one
   * instead.
   */
  readonly onRefused?: ((error: HoldfastError) => void) | undefined
}

export interface LinkClientOptions extends SendingOptions {
  /** A link to upload, as a client's `link` makes it with `verb: 'upload'`, with the address by which this machine reaches the server. */
  readonly link: string | URL
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

/** A link that opens a file without a password. */
export interface SignedLink {
  readonly url: string
  /** When it expires. */
  readonly expires: Date
}

/**
 * The files of one customer. Every method rejects with a `HoldfastError` that has the API's code, or with the reason of the given signal.
 */
export interface Client {
  /** Resolves if the server answers. The credentials need not be right. */
  ping(options?: RequestOptions): Promise<void>
  /**
   * Stores a file. When this resolves, the file is safe. It appears under its name in one step; until then nothing changes. It replaces a
   * file of the same name, unless `createOnly` is set.
   *
   * Content of 16 MiB or more (in browsers 4 MiB), and a stream of 8 MiB or more, goes in pieces by tus 1.0, so that a broken connection
   * costs only the piece under way. Smaller content is sent again as a whole. But with `createOnly`, if the earlier request may have stored
   * it, the upload fails with `no-answer`.
   */
  upload(name: string, body: UploadBody, options?: UploadOptions): Promise<UploadedFile>
  /**
   * Stores many files, and yields the outcome of each, in their order. Files of up to 256 KiB share requests, each of which holds at most
   * 4 MiB in memory; others are stored as by `upload`. Each file is stored or refused on its own, in one step. Of several files with one
   * name the last one stays. A request is sent when a result is asked for.
   *
   * Files without an answer are sent again, unless `createOnly` is set and they may have been stored. Rejects with errors that concern all
   * files, such as `no-answer` or `invalid-credentials`; the outcome of files without a result is then unknown.
   */
  uploadMany(
    files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
    options?: UploadManyOptions,
  ): AsyncGenerator<FileUploaded, void>
  /** Starts to download a file, an earlier version, or a range of it. `modified` is in whole seconds. */
  download(name: string, options?: DownloadOptions): Promise<Download>
  /**
   * Downloads many files: yields each in the order of `names`, with a function that starts its download. Files of up to 256 KiB share
   * requests for up to 1,000 names, and are in memory when they are yielded; others have requests of their own. A file is one version,
   * whole. A request is sent when a file is asked for; after a break the next one asks for the files that have not arrived. Rejects with
   * `invalid-credentials`; any other error is that of the download of a file.
   */
  downloadMany(
    names: Iterable<string> | AsyncIterable<string>,
    options?: DownloadManyOptions,
  ): AsyncGenerator<FileToDownload, void>
  /** The names of the files, in ascending order of their UTF-8 bytes; reads each page when it is needed. */
  list(options?: ListOptions): AsyncGenerator<string, void>
  /** Same as `list`, with the details of each file. */
  listDetails(options?: ListOptions): AsyncGenerator<FileDetails, void>
  /** Same as `listDetails`, in pages of one request each. */
  listPages(options?: PageOptions): AsyncGenerator<readonly FileDetails[], void>
  /** The details of one file; `not-found` if there is none. */
  stat(name: string, options?: StatOptions): Promise<FileDetails>
  /** Deletes a file; `not-found` if there is none. It is gone for good, unless the server keeps what is deleted. */
  delete(name: string, options?: DeleteOptions): Promise<void>
  /**
   * Gives a file another name, and replaces a file of that name, unless `createOnly` is set; `not-found` if there is none. If an answer is
   * lost, it rejects with `no-answer`, and does not try again: another file may have the earlier name by then.
   */
  rename(name: string, to: string, options?: RenameOptions): Promise<void>
  /**
   * The earlier versions of a file, which may be deleted, newest first; reads each page when it is needed. `unknown-file` if there is
   * neither a file nor a version, `unknown-path` if the server keeps none.
   */
  versions(name: string, options?: VersionsOptions): AsyncGenerator<FileVersion, void>
  /** The deleted files that are kept, each with its last version, in the order of `list`; `unknown-path` if the server keeps none. */
  deleted(options?: PageOptions): AsyncGenerator<DeletedFile, void>
  /**
   * Stores an earlier version of a file, or a deleted file, as a file again, and replaces a file of the name, unless `createOnly` is set;
   * `version-not-found` if it is not kept. When this resolves, the file is safe. If an answer is lost, it tries again only with `version`
   * and without `createOnly`; otherwise it rejects with `no-answer`, since the last version may be another one by then.
   */
  restore(name: string, options?: RestoreOptions): Promise<void>
  /**
   * Deletes many files as `delete` does, and yields the outcome of each as it comes, in the order of `names`. Each request deletes up to 10,000,
   * and is sent when a result is asked for. Each file is deleted or refused on its own, such as with `not-found`. When the caller stops or
   * aborts, the server begins no further deletion.
   *
   * Files without an answer are requested again; one that is then not found counts as deleted. Rejects with errors that concern all files,
   * such as `no-answer` or `invalid-credentials`, and with `method-not-allowed` if the server does not know this request; files without a
   * result may then be deleted.
   */
  deleteMany(
    names: Iterable<string> | AsyncIterable<string>,
    options?: DeleteOptions,
  ): AsyncGenerator<FileDeleted, void>
  /** Discards an upload on the server, by the URL that `onUploadUrl` got. A stored file stays. */
  discardUpload(url: string, options?: RequestOptions): Promise<void>
  /** Makes a link by which anyone may download a file, or upload one, until it expires. By default it expires in an hour. */
  link(name: string, options?: LinkRequest & RequestOptions): Promise<SignedLink>
  /** Ends all links that the customer has made. When this resolves, no server accepts them after half a second. */
  revokeLinks(options?: RequestOptions): Promise<void>
  /** What the customer keeps, and the limits. */
  usage(options?: RequestOptions): Promise<Usage>
}

/**
 * The methods for holders of a link to upload, who have no password. `createOnly` is set by default; a link that may replace files does so
 * with `createOnly: false`. `upload` takes the whole name: that of the link, or one that begins with it. An `uploadUrl` of a complete
 * upload counts as done, since the link cannot read the file. What the link does not allow fails with `link-refused`.
 */
export type LinkClient = Pick<Client, 'upload' | 'discardUpload'>

/** Makes a client that sends its requests by `transport`. */
export function createClientOver(transport: Transport, options: ClientOptions): Client {
  const base = baseOf(options.url)
  const access = { base, query: '', credentials: createCredentials(options), mayRead: true }
  const { requests, retryPolicy } = createSender(access, transport, options)
  const askForJson = <T>(request: Omit<Request, 'expects'>, isRight: Shape): Promise<T> =>
    withRetries(retryPolicy, request.signal, async () =>
      jsonOf(await requests.send({ ...request, expects: expectedAnswers.json }), isRight),
    )

  return {
    async ping({ signal } = {}) {
      const request = { url: requests.urlOf('ping'), expects: expectedAnswers.pong, signal }
      await withRetries(retryPolicy, signal, () => requests.send(request))
    },
    upload: (name, body, uploadOptions = {}) =>
      upload(requests, retryPolicy, name, body, uploadOptions),
    uploadMany: (files, manyOptions = {}) => uploadMany(requests, retryPolicy, files, manyOptions),
    download: (name, downloadOptions = {}) =>
      download(requests, retryPolicy, name, downloadOptions),
    downloadMany: (names, manyOptions = {}) =>
      downloadMany(requests, retryPolicy, names, manyOptions),
    list: (listOptions = {}) => listNames(requests, retryPolicy, listOptions),
    listPages: (pageOptions = {}) => listPages(requests, retryPolicy, pageOptions),
    listDetails: (listOptions = {}) => listDetails(requests, retryPolicy, listOptions),

    stat: (name, statOptions = {}) => stat(requests, retryPolicy, name, statOptions),

    async delete(name, { signal, keepalive = false } = {}) {
      const url = requests.urlOfFile('delete', name)
      const request = { method: 'DELETE', url, expects: expectedAnswers.deleted, keepalive, signal }
      let mayBeDeleted = false
      await withRetries(retryPolicy, signal, async () => {
        try {
          await requests.send(request)
        } catch (error) {
          // An earlier request, whose answer was lost, deleted it.
          if (mayBeDeleted && isHoldfastError(error, 'not-found')) return
          mayBeDeleted ||= !(hasStoredNothing(error) || retryPolicy.passwordHasChanged(error))
          throw error
        }
      })
    },

    rename: (name, to, renameOptions = {}) =>
      rename(requests, retryPolicy, name, to, renameOptions),

    versions: (name, versionsOptions = {}) =>
      listVersions(requests, retryPolicy, name, versionsOptions),
    deleted: (pageOptions = {}) => listDeleted(requests, retryPolicy, pageOptions),
    restore: (name, restoreOptions = {}) => restore(requests, retryPolicy, name, restoreOptions),

    deleteMany: (names, manyOptions = {}) => deleteMany(requests, retryPolicy, names, manyOptions),

    async discardUpload(url, { signal } = {}) {
      await withRetries(retryPolicy, signal, () => discardUpload(requests, new URL(url), signal))
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

    async revokeLinks({ signal } = {}) {
      const request = { method: 'DELETE', url: requests.urlOf('links'), signal }
      const expects = expectedAnswers.deleted
      await withRetries(retryPolicy, signal, () => requests.send({ ...request, expects }))
    },

    usage: ({ signal } = {}) =>
      askForJson<Usage>({ url: requests.urlOf('usage'), signal }, isUsage),
  }
}

/** The link with this client's address: behind a proxy, the server may not know that. */
function ownAddress(url: string, base: URL): string {
  const { pathname, search } = new URL(url, base)
  // Names have no slash, so these are the last two segments.
  const [path = ''] = /[^/]+\/[^/]*$/.exec(pathname) ?? []
  return new URL(path + search, base).href
}

/**
 * The address of a page about the file that a link opens: name, size, preview and a button. Browsers get the page, other programs the file.
 *
 * @param link as {@link Client.link} has made it
 */
export function pageOfLink(link: string): string {
  return `${link}&page=1`
}

/** Makes a client of a link to upload that sends its requests by `transport`. */
export function createLinkClientOver(
  transport: Transport,
  { link, ...options }: LinkClientOptions,
): LinkClient {
  const { requests, retryPolicy } = createSender(linkAccess(link), transport, options)
  return {
    upload: (name, body, { createOnly = true, ...uploadOptions } = {}) =>
      upload(requests, retryPolicy, name, body, { ...uploadOptions, createOnly }),

    async discardUpload(url, { signal } = {}) {
      await withRetries(retryPolicy, signal, () => discardUpload(requests, new URL(url), signal))
    },
  }
}
