import type { LinkRequest } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'

/** The fields of the form for a link to upload. */
export interface UploadLinkForm {
  readonly isPrefix: boolean
  /** The name, or the beginning of all names. */
  readonly name: string
  readonly maxFiles: string
  /** Bytes; 0 for any size. */
  readonly maxSize: number
  readonly expiresIn: number
}

const mostFiles = 10_000

/**
 * The request for a link with the values of `form`.
 * @throws ExplainedError for an invalid value
 */
export function linkOptionsOf(form: UploadLinkForm): LinkRequest {
  const { isPrefix, name, maxSize, expiresIn } = form
  if (name === '') throw new ExplainedError('askNameMissing')
  return {
    verb: 'upload',
    expiresIn,
    ...(isPrefix && { prefix: true, maxFiles: countOf(form.maxFiles) }),
    ...(maxSize > 0 && { maxSize }),
  }
}

function countOf(text: string): number {
  const count = Number(text)
  if (text.trim() !== '' && Number.isInteger(count) && count >= 1 && count <= mostFiles)
    return count
  throw new ExplainedError('askNumber')
}
