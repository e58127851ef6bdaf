import type { ResumableUpload } from '@holdfast/core'
import type { ProtocolRequest } from '../protocol/request.ts'

/** A request of the tus protocol, whatever server has received it. */
export interface TusRequest extends ProtocolRequest {
  readonly method: string
  /** As the client sent it, without the query. */
  readonly path: string
  /** What follows the path for creation; `undefined` at that path itself. */
  readonly id: string | undefined
  /** What the URL of a new upload has after its path, such as `?link=…`: what lets its client in. Default: nothing. */
  readonly query?: string
  /**
   * Aborts when the client leaves before it has the answer. Where the request has a body, `content` throws then, and what came
   * counts. Default: never.
   */
  readonly signal?: AbortSignal
  /** Called with the name of the file to be, once it is known; it may not be allowed. Default: no call. */
  readonly onName?: (name: string) => void
}

/** What to answer. The body is empty. */
export interface TusAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload that the request was about; with `published` set if this request, or one before it, published the file. */
  readonly upload?: ResumableUpload
  /** Whether this request published the file. */
  readonly hasPublished: boolean
}
