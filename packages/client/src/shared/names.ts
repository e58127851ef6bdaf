/** What stands for a slash. */
const pathSeparator = ' - '

/** However long a path is, its name begins as the path does, in so many bytes. */
const keptBytes = 200

/**
 * The name of a file that lay at `path` in a folder: its segments with ` - ` between them, since names have no folders.
 * Control characters become `_`. A name longer than 255 bytes loses the end of its stem, and gets `~` and a number made of the
 * whole path, so that two such names stay two.
 */
export function nameFromPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const name = withoutControls(segments.join(pathSeparator))
  if (name === '' || name === '.' || name === '..') return `_${name}`
  return bytesOf(name) <= longestName ? name : shortened(name, path)
}

/** What all names of files in the folder `path` begin with, and maybe some more names; '' for the path ''. */
export function prefixFromPath(path: string): string {
  if (path === '') return ''
  return fitting(withoutControls(path.split('/').join(pathSeparator) + pathSeparator), keptBytes)
}

function shortened(name: string, path: string): string {
  const { stem, extension } = apart(name)
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

/** `name` with ` (2)` before its extension, or another number. Of a name that is too long then, the stem loses its end. */
export function numberedName(name: string, number: number): string {
  const { stem, extension } = apart(name)
  const end = ` (${number})${extension}`
  return fitting(stem, longestName - bytesOf(end)) + end
}

/** The most bytes of a name in UTF-8. */
const longestName = 255

const encoder = new TextEncoder()

const bytesOf = (text: string): number => encoder.encode(text).length

/** A name without its extension, and that; one that is longer than 16 bytes is none. */
function apart(name: string): { readonly stem: string; readonly extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= 16 ? name.slice(dot) : ''
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** As much of the beginning of `text` as fits into so many bytes, whole characters only. */
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
