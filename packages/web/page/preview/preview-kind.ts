import type { FileDetails } from '@holdfast/client/browser'
import { fileKind } from '../list/file-kind.ts'

export type PreviewKind = 'image' | 'video' | 'audio' | 'text' | 'pdf' | 'none' | 'too-large'

/** How much of a text is shown, in bytes. */
export const shownText = 256 * 1024
const largestBlob = 32 * 1024 * 1024

/**
 * How a file is shown. Whatever could run scripts, HTML above all, is shown as text; pictures by `<img>`, which runs none, SVG
 * included. A PDF is opened in a tab of its own: the browser's viewer works in no frame without rights, and in a frame with
 * rights the scripts of the PDF could stop this page by their dialogs. Without links the file comes into memory first, so it may
 * not be large, and no PDF, which as a blob would be of this origin.
 */
export function previewKind(file: FileDetails, hasLinks: boolean): PreviewKind {
  const { type, size } = file
  const kind = fileKind(file)
  if (kind === 'text' || /csv/.test(type)) return 'text'
  if (kind === 'pdf' && hasLinks) return 'pdf'
  if (kind !== 'image' && kind !== 'video' && kind !== 'audio') return 'none'
  return size > largestBlob && !hasLinks ? 'too-large' : kind
}

/** The type that a blob of the page may have: a document of another one could be opened, and would be of our origin. */
export function harmlessType(type: string): string {
  const [essence = ''] = type.split(';')
  return /^(image|audio|video)\//.test(essence) ? essence : 'text/plain'
}
