import type { CustomerFiles } from '@holdfast/core'

/** What holdfast's middleware keeps in `ctx.state`. */
export interface HoldfastState {
  requestId?: string
  /** The files of the customer who sent the request, once that is known. */
  files?: CustomerFiles
  /** What went wrong, for the log line of the request. */
  failure?: unknown
}
