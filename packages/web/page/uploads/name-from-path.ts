const most = 255
const encoder = new TextEncoder()
const bytesOf = (text: string) => encoder.encode(text).length

/**
 * The name of a file that lay at `path` in a folder: its segments with ` - ` between them, since names have no folders.
 * Control characters become `_`. A name longer than 255 bytes loses the end of its stem, and gets `~` and a number made of the
 * whole path, so that two such names stay two.
 */
export function nameFromPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '')
  const name = segments.join(' - ').replace(/[\u0000-\u001f\u007f]/g, '_')
  if (name === '' || name === '.' || name === '..') return `_${name}`
  return bytesOf(name) <= most ? name : shortened(name, path)
}

/** `name` with ` (2)` before its extension, or another number. */
export function numbered(name: string, number: number): string {
  const { stem, extension } = apart(name)
  const end = ` (${number})${extension}`
  return fitting(stem, most - bytesOf(end)) + end
}

function shortened(name: string, path: string): string {
  const { stem, extension } = apart(name)
  const end = `~${hash(path)}${extension}`
  return fitting(stem, most - bytesOf(end)) + end
}

function apart(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && bytesOf(name.slice(dot)) <= 16 ? name.slice(dot) : ''
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** As much of `text` as fits, whole characters only. */
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

/** FNV-1a, in 8 hexadecimal digits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of encoder.encode(text)) value = Math.imul(value ^ byte, 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}
