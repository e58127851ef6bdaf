import type { FileDetails } from '@holdfast/client/browser'

/** What a file is to its user: its drawing, and how it is shown. */
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
  // TypeScript, whose extension a format of films has had before it.
  if (/\.[cm]?tsx?$/i.test(name)) return 'text'
  const [essence = ''] = type.toLowerCase().split(';')
  return byType.find(([pattern]) => pattern.test(essence))?.[1] ?? 'other'
}
