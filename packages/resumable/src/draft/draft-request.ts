import type { ExpectedDigest, ResumableUpload } from '@holdfast/core'
import type { ProtocolRequest } from '../protocol/request.ts'

/** A request of the draft "Resumable Uploads for HTTP", whatever server has received it. */
export interface DraftRequest extends ProtocolRequest {
  /** The digest of this request's content, where the client has sent one (`Content-Digest`). */
  readonly digest?: ExpectedDigest | undefined
  /** Sends the interim response 104 with these headers, where the server can. */
  inform(headers: Readonly<Record<string, string>>): void
}

/** What to answer. */
export interface DraftAnswer {
  /** 200 where the file has been published: the answer is then that of the resource which the upload was for. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload that the request was about; with `published` set where the file has been published. */
  readonly upload?: ResumableUpload
}
