import type { FileDetails } from '@holdfast/client/browser'

const folded = new WeakMap<FileDetails, string>()

/** The files whose names contain every word of `text`, whatever the case and the accents. */
export function filterFiles(files: readonly FileDetails[], text: string): readonly FileDetails[] {
  const words = fold(text).split(/\s+/).filter(Boolean)
  if (words.length === 0) return files
  return files.filter((file) => {
    const name = foldedName(file)
    return words.every((word) => name.includes(word))
  })
}

/** Filters as `filterFiles`; a text that goes on where the last one ended looks only at what that has left. */
export function createFilter(): typeof filterFiles {
  let last: {
    readonly files: readonly FileDetails[]
    text: string
    found: readonly FileDetails[]
  } = {
    files: [],
    text: '',
    found: [],
  }
  return (files, text) => {
    const goesOn = files === last.files && text.startsWith(last.text)
    last = { files, text, found: filterFiles(goesOn ? last.found : files, text) }
    return last.found
  }
}

/** Prepares the names, so that the first letter finds them as quickly as the others. */
export function prepareFilter(files: readonly FileDetails[]): void {
  files.forEach(foldedName)
}

/** Kept, since every letter that is typed looks at all names. */
function foldedName(file: FileDetails): string {
  const known = folded.get(file)
  if (known !== undefined) return known
  const name = fold(file.name)
  folded.set(file, name)
  return name
}

function fold(text: string): string {
  // Most names have nothing to fold but their case.
  if (/^[\u0020-\u007e]*$/.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
}
