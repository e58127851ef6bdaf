/** Replaces a slash. */
const pathSeparator = ' - '

/** The first so many bytes of a name are those of its path, however long the path is. */
const keptBytes = 200

/**
 * The name for a file at `path` in a folder: its segments joined by ` - `, since names have no folders. Control characters become `_`. A
 * name longer than 255 bytes loses the end of its stem, and gets `~` and a number made of the whole path, so that two such names stay
 * different.
 */
export function nameFromPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const name = withoutControls(segments.join(pathSeparator))
  if (name === '' || name === '.' || name === '..') return `_${name}`
  return bytesOf(name) <= longestName ? name : shortened(name, path)
}

/** The prefix that all names of files in the folder `path` have, and perhaps some other names; '' for the path ''. */
export function prefixFromPath(path: string): string {
  if (path === '') return ''
  return fitting(withoutControls(path.split('/').join(pathSeparator) + pathSeparator), keptBytes)
}

/**
 * The prefixes of the folders that a name shows, from the outermost: `['photos - ', 'photos - 2026 - ']` of `photos - 2026 - sea.jpg`. A
 * separator counts only between texts that are not blank, so that each folder, and the file in it, has a title.
 */
export function foldersFromName(name: string): readonly string[] {
  const folders: string[] = []
  let start = 0
  let at = name.indexOf(pathSeparator)
  while (at >= 0) {
    const end = at + pathSeparator.length
    if (name.slice(end).trim() === '') break
    if (name.slice(start, at).trim() !== '') {
      folders.push(name.slice(0, end))
      start = end
      at = name.indexOf(pathSeparator, end)
    } else at = name.indexOf(pathSeparator, at + 1)
  }
  return folders
}

/** What a folder is called: `2026` for the prefix `photos - 2026 - `. */
export function folderTitle(prefix: string): string {
  const parent = foldersFromName(`${prefix}_`).at(-2) ?? ''
  return prefix.slice(parent.length, -pathSeparator.length)
}

function shortened(name: string, path: string): string {
  const { stem, extension } = splitName(name)
  const end = `~${hash(path)}${extension}`
  return fitting(stem, longestName - bytesOf(end)) + end
}

function withoutControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, '_')
}

/** FNV-1a, in 8 hexadecimal digits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** `name` with ` (2)`, or another number, before its extension. If that is too long, the stem loses its end. */
export function numberedName(name: string, number: number): string {
  const { stem, extension } = splitName(name)
  const end = ` (${number})${extension}`
  return fitting(stem, longestName - bytesOf(end)) + end
}

/** The most bytes of a name in UTF-8. */
const longestName = 255

const encoder = new TextEncoder()

const bytesOf = (text: string): number => encoder.encode(text).length

/** The stem and the extension of a name; an extension of more than 16 bytes belongs to the stem. */
function splitName(name: string): { readonly stem: string; readonly extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= 16 ? name.slice(dot) : ''
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** The longest beginning of `text` that fits into `bytes`, in whole characters. */
function fitting(text: string, bytes: number): string {
  let kept = ''
  let room = bytes
  for (const character of text) {
    room -= bytesOf(character)
    if (room < 0) break
    kept += character
  }
  return kept
}
