import type { Customer } from '../model/customer.ts'
import { lockUnlessAborted } from '../model/concurrency.ts'
import type { UploadContent } from '../model/upload-content.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { appendUpload, type AppendUploadOptions } from './append-upload.ts'
import {
  beginUpload,
  type BeginOptions,
  uploadWhole,
  type UploadWholeOptions,
} from './begin-upload.ts'
import { digestOf, finishUpload, type FinishedUpload } from './finish-upload.ts'
import { discardUpload, lookUpUpload, uploadKey, type ResumablePolicy } from './resumable-policy.ts'

export interface PublishOptions {
  /** Ends the call, as documented at `finishUpload`. */
  readonly signal?: AbortSignal
}

/** The uploads of one customer that come in pieces. */
export interface ResumableFiles {
  /** Begins an upload; one of length 0 is published at once. See `beginUpload`. */
  begin(name: string, options?: BeginOptions): Promise<ResumableUpload>
  /** Stores a file that comes in one piece, and remembers it as a published upload; see `uploadWhole`. */
  uploadWhole(
    name: string,
    content: UploadContent,
    options: UploadWholeOptions,
  ): Promise<ResumableUpload>
  /**
   * The state of an upload. Ends an append that is still under way: a client that asks has given it up.
   * @throws FileServiceError `upload-not-found`, also if its file was published, and then deleted or replaced
   */
  state(id: string): Promise<ResumableUpload>
  /**
   * The SHA-256 of the first `offset` bytes of an unfinished upload in the store, in hexadecimal. With it, a client that resumes the
   * upload later can check whether its content is still the same. `undefined` if the service has no SHA-256. Only one digest of an
   * upload is computed at a time; it ends when the signal aborts.
   *
   * @throws FileServiceError `upload-not-found`; `upload-conflict` if a later request continues the upload
   */
  digest(id: string, offset: number, options?: PublishOptions): Promise<string | undefined>
  /** Adds bytes at `offset`, and publishes the file when its length is reached; see `appendUpload`. */
  append(
    id: string,
    offset: number,
    content: UploadContent,
    options?: AppendUploadOptions,
  ): Promise<FinishedUpload>
  /** Publishes an upload that has all of its bytes, or one whose length was never declared; see `finishUpload`. */
  publish(id: string, options?: PublishOptions): Promise<FinishedUpload>
  /**
   * Drops an upload and its bytes. A published file stays.
   * @throws FileServiceError `upload-not-found`
   */
  discard(id: string): Promise<void>
  /** The unfinished uploads, in no order, in pages. */
  list(): AsyncIterable<readonly ResumableUpload[]>
}

/** The uploads of `customer` under `policy`. */
export function resumableFiles(policy: ResumablePolicy, customer: Customer): ResumableFiles {
  const { uploads } = policy
  return {
    begin: (name, options) => beginUpload(policy, customer, name, options),
    uploadWhole: (name, content, options) => uploadWhole(policy, customer, name, content, options),
    async state(id) {
      const key = uploadKey(customer, id)
      await uploads.interrupt(key)
      const upload = await lookUpUpload(policy, key)
      if (upload === undefined) throw uploadNotFound()
      return upload
    },
    async digest(id, offset, { signal } = {}) {
      const hash = policy.createSha256?.()
      if (hash === undefined) return undefined
      const key = uploadKey(customer, id)
      const leave = await lockUnlessAborted(policy.publishing, `${customer.name}/${id}`, signal)
      try {
        return await digestOf(policy, key, offset, hash, signal)
      } finally {
        leave()
      }
    },
    append: (id, offset, content, options) =>
      appendUpload(policy, customer, id, offset, content, options),
    publish: (id, { signal } = {}) => finishUpload(policy, customer, id, signal),
    async discard(id) {
      const key = uploadKey(customer, id)
      const found = await lookUpUpload(policy, key)
      const isDiscarded = await discardUpload(policy, customer, key)
      if (!found || !isDiscarded) throw uploadNotFound()
    },
    list: () => uploads.list(customer.name),
  }
}
