import {
  type Client,
  type ClientOptions,
  type LinkClient,
  type LinkClientOptions,
  createClientOver,
  createLinkClientOver,
} from './client.ts'
import { requireOptions, requireRuntime } from './shared/require.ts'
import { createNodeTransport } from './node-transport.ts'

export {
  type Client,
  type ClientOptions,
  type LinkClient,
  type LinkClientOptions,
  type RequestOptions,
  type SignedLink,
  pageOfLink,
} from './client.ts'
export type {
  DeletedFile,
  FileDetails,
  FileVersion,
  LinkRequest,
  ProblemCode,
  Usage,
} from './api/description.ts'
export type { DeleteOptions, FileDeleted, RenameOptions } from './calls/rename-and-delete.ts'
export type { Download, DownloadOptions } from './calls/download.ts'
export type { DownloadManyOptions, FileToDownload } from './calls/download-many.ts'
export {
  concernsAllFiles,
  HoldfastError,
  isHoldfastError,
  type HoldfastErrorCode,
} from './shared/holdfast-error.ts'
export type { RestoreOptions, VersionsOptions } from './calls/history.ts'
export type { ListOptions, PageOptions } from './calls/list.ts'
export {
  folderTitle,
  foldersFromName,
  nameFromPath,
  numberedName,
  prefixFromPath,
} from './shared/names.ts'
export type { SendingOptions } from './requests/requests.ts'
export { isTransient, type Retry } from './requests/with-retries.ts'
export type { StatOptions } from './calls/stat.ts'
export type {
  RequestBody,
  Transport,
  TransportRequest,
  TransportResponse,
} from './shared/transport.ts'
export type { FileToUpload, FileUploaded, UploadManyOptions } from './calls/upload-many.ts'
export { createThrottledTransport, type Throttle } from './node-transport.ts'
export { openFile, type OpenFileOptions } from './calls/open-file.ts'
export type {
  RereadableBody,
  UploadBody,
  UploadOptions,
  UploadedFile,
  UploadProgress,
} from './calls/upload-options.ts'

/**
 * Makes a client for one customer of one server. It sends nothing until a method is called, and need not be closed.
 *
 * @throws TypeError if the URL is not an HTTP URL, or the name or the password is missing
 */
export function createClient(options: ClientOptions): Client {
  requireRuntime()
  requireOptions('createClient({ url, name, password })', options)
  return createClientOver(options.transport ?? createNodeTransport(), options)
}

/**
 * Makes a client for a link to upload. It sends nothing until a method is called, and need not be closed.
 *
 * @throws TypeError if `link` is no such link
 */
export function createLinkClient(options: LinkClientOptions): LinkClient {
  requireRuntime()
  requireOptions('createLinkClient({ link })', options)
  return createLinkClientOver(options.transport ?? createNodeTransport(), options)
}
