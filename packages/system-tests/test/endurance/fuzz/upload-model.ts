import { createHash } from 'node:crypto'
import { isName } from './name-model.ts'

/** An upload in pieces, as the model knows it. */
export interface ModelUpload {
  readonly name: string
  readonly isCreateOnly: boolean
  /** Whether the SHA-256 that was announced with it is that of `bytes`, once that is asked. Without one: always. */
  readonly sha256?: string
  length: number | undefined
  bytes: Buffer
  isPublished: boolean
}

/** What is expected of an answer. */
export interface ModelAnswer {
  readonly status: number
  /** What `Upload-Offset` says, if it is there. */
  readonly offset?: number
}

export type ModelFiles = Map<string, Buffer>

/** Where the whole of a content is to be stored, and what becomes of it. */
export type Publication = 'published' | 'taken' | 'mismatch'

/** Publishes what has come, as docs/api.md has it: a name that is taken leaves the upload, a wrong digest ends it. */
export function publish(upload: ModelUpload, files: ModelFiles): Publication {
  const { name, bytes, sha256, isCreateOnly } = upload
  // What could not be published is not hashed.
  if (isCreateOnly && files.has(name)) return 'taken'
  if (sha256 !== undefined && sha256 !== sha256Of(bytes)) return 'mismatch'
  files.set(name, bytes)
  upload.isPublished = true
  return 'published'
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What an upload is to be. */
export interface Beginning {
  readonly name: string
  readonly isCreateOnly: boolean
  readonly sha256?: string | undefined
  readonly length?: number | undefined
  readonly bytes: Buffer
  /** Whether the digest of this request's bytes is announced, and right. Default: none. */
  readonly digest?: 'right' | 'wrong' | undefined
}

/** Why a beginning is refused, in the order in which it is examined; `undefined` where it is not. */
export function refusalOfBeginning(
  { name, isCreateOnly, length, bytes }: Beginning,
  files: ModelFiles,
): number | undefined {
  if (length !== undefined && bytes.length > length) return 413
  if (!isName(name)) return 400
  return isCreateOnly && files.has(name) ? 412 : undefined
}
