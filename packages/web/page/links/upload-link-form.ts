import type { LinkRequest } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'

/** What the form of a link to upload has. */
export interface UploadLinkForm {
  readonly isPrefix: boolean
  /** The name, or what names begin with. */
  readonly name: string
  readonly maxFiles: string
  /** Bytes; 0 for any size. */
  readonly maxSize: number
  readonly expiresIn: number
}

const mostFiles = 10_000

/**
 * What to ask the server for.
 * @throws ExplainedError for what cannot be meant
 */
export function wishesOf(form: UploadLinkForm): LinkRequest {
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
