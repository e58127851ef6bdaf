import type { BlobInfo, CustomerFiles, LinkUploads } from '@holdfast/core'
import type { Route } from './answered-request.ts'

/** What holdfast's middleware keeps in `ctx.state`. */
export interface HoldfastState {
  requestId?: string
  /** The route that took the request, once one did. */
  route?: Route
  /** The files of the customer who sent the request, or whose link lets it read one, once that is known. */
  files?: CustomerFiles
  /** That a link has let the request in. */
  link?: {
    /** Whether its maker wants the content shown. */
    readonly inline?: boolean
    /** All that may be done by a link to upload; there are no `files` beside it. */
    readonly uploads?: LinkUploads
  }
  /** What the audit trail calls the request, where the route alone does not say it. */
  event?: 'upload-link'
  /** What the request calls the file that it is about, once that is known; it may not be a name that is allowed. */
  fileName?: string
  /** What an upload has stored, once that is safe. */
  stored?: BlobInfo
  /** Headers that the response has even if it is an error, because its protocol demands them. */
  errorHeaders?: Readonly<Record<string, string>>
  /** What went wrong, for the log line of the request. */
  failure?: unknown
}
