import type { ResumableUpload, UploadContent } from '@holdfast/core'

/** The headers of a request by their names in lower case, as Node has them; those sent twice are joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** A request of the tus protocol, whatever server has received it. */
export interface TusRequest {
  readonly method: string
  readonly headers: RequestHeaders
  /** As the client sent it, without the query. */
  readonly path: string
  /** What follows the path for creation; `undefined` at that path itself. */
  readonly id: string | undefined
  /** The body. Called at most once, when it is about to be read. It throws, and does not end, if it is not complete. */
  content(): UploadContent
  /** Called with each chunk of the body that the store no longer needs. Default: no call. */
  readonly release?: (chunk: Uint8Array) => void
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

/** The value of a header, without the spaces around it; `undefined` where it is missing. */
export function headerOf({ headers }: Pick<TusRequest, 'headers'>, name: string) {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.join(', '))?.trim()
}
