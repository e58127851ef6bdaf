import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { uploadConflict, uploadPublished } from './upload-errors.ts'

/** Milliseconds for which a store that was full keeps an upload that had no room in it, unless the upload goes on. */
export const expiryWhenFullMs = 60 * 60 * 1000

/** What the rules of an upload in pieces need of it; `published` is anything once it is, or is being, published. */
interface Progress extends Pick<ResumableUpload, 'offset' | 'plan'> {
  readonly published?: unknown
}

/** @throws FileServiceError `upload-conflict` unless bytes may be added at `offset` */
export function requireOffset(upload: Omit<Progress, 'plan'>, offset: number): void {
  if (upload.published !== undefined) throw uploadPublished()
  if (upload.offset === offset) return
  throw uploadConflict(`The upload stands at ${upload.offset} and not at ${offset} bytes`)
}

/** @throws FileServiceError `upload-conflict` unless the whole file may have `length` bytes */
export function requireLength({ offset, plan, published }: Progress, length: number): void {
  const known = published === undefined ? plan.length : offset
  if (known !== undefined && known !== length) {
    throw uploadConflict(`The length is ${known} and not ${length} bytes`)
  }
  if (offset > length) throw uploadConflict(`The upload has ${offset} bytes already`)
}

/** @throws FileServiceError `upload-conflict` unless the upload has all bytes of its length, where that is known */
export function requireComplete({ offset, plan: { length = offset } }: Progress): void {
  if (offset === length) return
  throw uploadConflict(`The upload has ${offset} of ${length} bytes`)
}
