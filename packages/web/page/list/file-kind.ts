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
