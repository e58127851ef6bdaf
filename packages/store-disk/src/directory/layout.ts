import { sep } from 'node:path'
import { nameProblem, type BlobKey } from '@holdfast/core'

/**
 * How names become names on disk. `plain`: as they are, for file systems that keep all names apart. `escaped`: with
 * escapes, for file systems that fold case or normalisation or refuse some characters.
 */
export type NamesMode = 'plain' | 'escaped'

/** Maps names to paths and back. No other module knows the format; the README describes it for administrators. */
export interface Layout {
  /** The directory that holds all customers. */
  readonly root: string
  /** The directory of a customer. @throws TypeError for what cannot be a name. */
  customerDirectory(customer: string): string
  /** The file of a blob. @throws TypeError for what cannot be a name. */
  blobPath(key: BlobKey): string
  /**
   * The name whose path is `components`: of a customer if they start below the root, of a blob if they start below its customer's
   * directory; `undefined` if no name has that path.
   */
  nameAt(components: readonly string[]): string | undefined
  /** Whether all blobs of a customer are in one directory. */
  readonly isFlat: boolean
  /** Whether a directory called `component` is not a customer's, but holds more entries of the same kind as its parent. */
  holdsMore(component: string): boolean
}

/** The layout of the files below the directory `root`, a path without a separator at its end. */
export function createLayout(root: string, mode: NamesMode): Layout {
  const encode = (name: string) => (mode === 'plain' ? name : encodeEscapedName(name).join(sep))
  // A name has no separator and is not `..`, so that `join`, which takes a microsecond, would change nothing.
  const customerDirectory = (customer: string) => root + sep + encode(checked(customer))
  return {
    root,
    isFlat: mode === 'plain',
    customerDirectory,
    blobPath: ({ customer, name }) => customerDirectory(customer) + sep + encode(checked(name)),
    nameAt: (components) => {
      const name = mode === 'plain' ? components.join('/') : decodeEscapedName(components)
      return name === undefined || nameProblem(name) !== undefined ? undefined : name
    },
    holdsMore: (component) => mode === 'escaped' && isContinued(component),
  }
}

/** The core has checked every name already. This check keeps callers without the core inside the directory. */
function checked(name: string): string {
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Not a name: ${problem}`)
  return name
}

/** Longest component in characters before its mark; far below every file system's limit, eCryptfs' 143 included. */
const componentLength = 120

/** Characters that no file system folds, refuses, or treats specially. `~` is not safe: Windows makes short names with it. */
const safeCharacter = /^[a-z0-9_.-]$/

/** Windows takes these for devices, whatever follows the first dot. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/** Ends a component that is not the last of its name. A bare `%` cannot come from an escape. */
const continuationMark = '%'

/**
 * The path components of `name`, such that no two names share a path under case folding and Unicode normalisation, on any operating
 * system. Lower-case letters, digits, `_`, `-` and `.` stand for themselves. Every other byte of the UTF-8 form is `%` and two lower-case
 * hex digits; so are a dot at the end and the first letter of a Windows device name. A long name continues in the next component: all but
 * the last are directories whose names end with a bare `%`.
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

/** The name that {@link encodeEscapedName} encodes as exactly these components; `undefined` if there is none. */
export function decodeEscapedName(components: readonly string[]): string | undefined {
  const escaped = components
    .map((component) => (isContinued(component) ? component.slice(0, -1) : component))
    .join('')
  const name = unescapeBytes(escaped)
  // Encoding again rejects every other spelling, so that each path has one name and each name one path.
  const isCanonical = name !== '' && encodeEscapedName(name).join('/') === components.join('/')
  return isCanonical ? name : undefined
}

/** Whether `component` is a directory that holds the rest of longer names. */
function isContinued(component: string): boolean {
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
