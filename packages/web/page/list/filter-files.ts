import type { FileEntry } from '../api/file-entry.ts'

const folded = new WeakMap<FileEntry, string>()

/** The files whose names contain every word of `text`, whatever the case and the accents. */
export function filterFiles(files: readonly FileEntry[], text: string): readonly FileEntry[] {
  const words = fold(text).split(/\s+/).filter(Boolean)
  if (words.length === 0) return files
  return files.filter((file) => {
    const name = foldedName(file)
    return words.every((word) => name.includes(word))
  })
}

/** Kept, since every letter that is typed looks at all names. */
function foldedName(file: FileEntry): string {
  const known = folded.get(file)
  if (known !== undefined) return known
  const name = fold(file.name)
  folded.set(file, name)
  return name
}

function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
}
