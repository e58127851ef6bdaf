import type { UploadBody, UploadedFile } from '../upload/upload-options.ts'

/** One of many files to upload. */
export interface FileToUpload {
  readonly name: string
  readonly body: UploadBody
  /** What the content must be, in hexadecimal; otherwise `digest-mismatch`, and nothing has changed. */
  readonly sha256?: string | undefined
}

export interface UploadManyOptions {
  /** Whether a file fails with `already-exists` where its name is taken. Default: false. */
  readonly createOnly?: boolean | undefined
  /** Ends the upload. What has been stored by then stays. */
  readonly signal?: AbortSignal | undefined
}

/** What became of one of many files. */
export interface FileUploaded extends Partial<UploadedFile> {
  readonly name: string
  /** Why it was not stored; `undefined`: it is safe, and in its place. */
  readonly error: Error | undefined
}
