import type { FileDetails } from '@holdfast/client/browser'

/** The kind of a file for its user: it decides the icon and the preview. */
export type FileKind =
  | 'image'
  | 'video'
  | 'audio'
  | 'text'
  | 'pdf'
  | 'archive'
  | 'sheet'
  | 'document'
  | 'other'

const byType: readonly (readonly [RegExp, FileKind])[] = [
  [/^image\//, 'image'],
  [/^video\//, 'video'],
  [/^audio\//, 'audio'],
  [/^application\/pdf$/, 'pdf'],
  [/csv|spreadsheet|excel/, 'sheet'],
  [/zip|compressed|x-tar|gzip|x-7z|x-rar|zstd/, 'archive'],
  [/msword|wordprocessing|presentation|opendocument|rtf|epub/, 'document'],
  [/^text\/|json|xml|yaml|javascript|typescript|x-sh|toml|sql$/, 'text'],
]

/** The kind of a file by its media type, as the list shows it. */
export function fileKind({ name, type }: Pick<FileDetails, 'name' | 'type'>): FileKind {
  // TypeScript: an older video format has the same extension.
  if (/\.[cm]?tsx?$/i.test(name)) return 'text'
  const [essence = ''] = type.toLowerCase().split(';')
  return byType.find(([pattern]) => pattern.test(essence))?.[1] ?? 'other'
}

export type PreviewKind =
  | 'image'
  | 'video'
  | 'audio'
  | 'text'
  | 'markdown'
  | 'table'
  | 'pdf'
  | 'none'
  | 'too-large'

/** The most bytes of a text that are shown. */
export const shownText = 256 * 1024
/** The most bytes of a Markdown that is parsed; a longer one is shown as text. */
const largestMarkdown = 128 * 1024
const largestBlob = 32 * 1024 * 1024

/**
 * How a file is shown. Whatever could run scripts, above all HTML, is shown as text; pictures by `<img>`, which runs no scripts, not even
 * of SVG. A PDF opens in a tab of its own: the browser's viewer works in no frame without rights, and in a frame with rights the scripts
 * of the PDF could block this page by their dialogs. Without links the file is first read into memory, so it must not be large, and must
 * not be a PDF, which as a blob would have this page's origin.
 */
export function previewKind(file: FileDetails, hasLinks: boolean): PreviewKind {
  const { name, type, size } = file
  const kind = fileKind(file)
  if (/\.(md|markdown)$/i.test(name) || /^text\/markdown/.test(type)) {
    return size > largestMarkdown ? 'text' : 'markdown'
  }
  if (/\.tsv$/i.test(name) || /csv|tab-separated/.test(type)) return 'table'
  if (kind === 'text') return 'text'
  if (kind === 'pdf' && hasLinks) return 'pdf'
  if (kind !== 'image' && kind !== 'video' && kind !== 'audio') return 'none'
  return size > largestBlob && !hasLinks ? 'too-large' : kind
}

/**
 * The most steps of a Markdown that is parsed. Measured in Node 24 on two busy cores: `'a'.repeat(131071) + '@'` took 20 s. Within this
 * bound such a word takes 0.1 s, a paragraph of lines as `__init__ *args _x_1` 0.1 s, lists in each other on one line 0.3 s, and the worst
 * text that we know, lists in each other by indentation, 0.6 s. The longest READMEs and changelogs that we found need 15 million steps.
 */
const mostMarkdownSteps = 64e6

/**
 * Whether a Markdown would stop the page for too long. The time that `marked` takes grows with the square of the length of a word, which
 * may be an email address; in a paragraph with the length for each mark of emphasis, and for each beginning of a comment; and in a line
 * with the length for each list and quotation that begins there.
 */
export function isSlowMarkdown(text: string): boolean {
  const sum = (parts: readonly string[], stepsOf: (part: string) => number) =>
    parts.reduce((steps, part) => steps + stepsOf(part), 0)
  const words = sum(text.split(/\s+/), ({ length }) => length ** 2)
  const paragraphs = sum(text.split(/\n[ \t\r]*\n/), (paragraph) => {
    const marks = paragraph.match(/[*_~]|<[?!]/g) ?? []
    return marks.length * paragraph.length
  })
  const lines = sum(text.split(/[\n\r]/), (line) => {
    const [begun = ''] = /^(?:[ \t]*(?:[>*+-]|\d+[.)]))*/.exec(line) ?? []
    return begun.length * line.length
  })
  return words + paragraphs + lines > mostMarkdownSteps
}

/** The type that a blob of the page may have. A document of another type could be opened, and would have our origin. */
export function harmlessType(type: string): string {
  const [essence = ''] = type.split(';')
  return /^(image|audio|video)\//.test(essence) ? essence : 'text/plain'
}

/** Whether a link in a text of someone else may be followed. */
export function isSafeLink(href: string): boolean {
  try {
    return ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol)
  } catch {
    // A relative one would lead to the server of this page.
    return false
  }
}
