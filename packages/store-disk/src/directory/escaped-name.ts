/** Longest component in characters before its mark; far below every file system's limit, eCryptfs' 143 included. */
const componentLength = 120

/** What no file system folds, refuses, or gives a meaning to. `~` is not safe: Windows makes short names with it. */
const safeCharacter = /^[a-z0-9_.-]$/

/** Windows takes these for devices, whatever follows the first dot. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/** Ends a component that is not the last of its name. A bare `%` cannot come from an escape. */
const continuationMark = '%'

/**
 * The path components of `name`, such that no two names share a path under case folding and Unicode normalisation, on
 * any operating system: lower-case letters, digits, `_`, `-` and `.` stand for themselves; every other byte of the
 * UTF-8 form is `%` and two lower-case hex digits, and so are a dot at the end and the first letter of a Windows device
 * name. What is too long for one component goes on in the next: a directory ending with a bare `%`.
 */
export function encodeEscapedName(name: string): string[] {
  const pieces = Array.from(name, (character) =>
    safeCharacter.test(character) ? character : escapeBytes(character),
  )
  // Windows drops dots at the end of a name.
  if (name.endsWith('.')) pieces.splice(-1, 1, escapeBytes('.'))
  const components = packInto(componentLength, pieces).map(escapeDeviceName)
  return components.map((component, index) =>
    index === components.length - 1 ? component : component + continuationMark,
  )
}

/** The name that {@link encodeEscapedName} gives exactly these components for; `undefined` if there is none. */
export function decodeEscapedName(components: readonly string[]): string | undefined {
  const escaped = components
    .map((component) => (isContinued(component) ? component.slice(0, -1) : component))
    .join('')
  const name = unescapeBytes(escaped)
  // Encoding again weeds out every other spelling, so that a path on disk has one name and a name one path.
  const isCanonical = name !== '' && encodeEscapedName(name).join('/') === components.join('/')
  return isCanonical ? name : undefined
}

/** Whether `component` is a directory that holds the rest of longer names. */
export function isContinued(component: string): boolean {
  return component.endsWith(continuationMark)
}

function escapeBytes(character: string): string {
  return Array.from(Buffer.from(character), escapeByte).join('')
}

function escapeByte(byte: number): string {
  return '%' + byte.toString(16).padStart(2, '0')
}

function unescapeBytes(escaped: string): string {
  const latin1 = escaped.replace(/%([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  return Buffer.from(latin1, 'latin1').toString('utf8')
}

function escapeDeviceName(component: string): string {
  return deviceName.test(component)
    ? escapeByte(component.charCodeAt(0)) + component.slice(1)
    : component
}

/** Joins `pieces` into strings of at most `length` characters; a piece is never divided. */
function packInto(length: number, pieces: readonly string[]): string[] {
  const packed: string[] = []
  let current = ''
  for (const piece of pieces) {
    if (current.length + piece.length > length) {
      packed.push(current)
      current = ''
    }
    current += piece
  }
  packed.push(current)
  return packed
}
