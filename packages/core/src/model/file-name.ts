import { FileServiceError } from './errors.ts'
import { requireText } from './require.ts'

/** The longest name, in bytes of UTF-8; every common file system accepts names of this length. */
export const maxNameBytes = 255

// C0 and DEL. The C1 block is allowed: it occurs in names that were converted blindly from some legacy encodings.
const controlCharacter = /[\u0000-\u001f\u007f]/

const encoder = new TextEncoder()

/**
 * Why `name` cannot be the name of a file or a customer, as the end of a sentence; `undefined` if it can.
 *
 * This is the whole policy: 1 to 255 bytes of UTF-8, neither `.` nor `..`, no `/`, no control character (C0 and DEL). All other
 * names are allowed, and kept unchanged, code unit by code unit.
 */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name === '.' || name === '..') return `it is "${name}"`
  if (name.includes('/')) return 'it contains a slash'
  if (controlCharacter.test(name)) return 'it contains a control character'
  if (!name.isWellFormed()) return 'it is not valid Unicode'
  // A code unit takes at most three bytes, so most names need not be encoded for this check.
  const bytes = name.length * 3 <= maxNameBytes ? 0 : encoder.encode(name).length
  if (bytes > maxNameBytes) return `it is longer than ${maxNameBytes} bytes`
  return undefined
}

/**
 * @throws TypeError when `name` is not a string
 * @throws FileServiceError `invalid-file-name` with the reason, when `name` breaks the policy of {@link nameProblem}.
 */
export function checkFileName(name: string): void {
  requireText('The name of a file', name)
  const problem = nameProblem(name)
  if (problem !== undefined) {
    throw new FileServiceError('invalid-file-name', `Invalid filename: ${problem}`)
  }
}

/**
 * Compares two strings by their UTF-8 bytes; the result is negative, zero or positive. This is the order of lists here and in S3.
 * JavaScript's own order is that of UTF-16 code units, which puts U+FF5E after U+1F600.
 */
export function compareUtf8(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return codePointRank(x) - codePointRank(y)
  }
  return a.length - b.length
}

/** Puts surrogates after the rest of the basic plane, since they stand for code points after it. */
function codePointRank(unit: number): number {
  return (unit & 0xf800) === 0xd800 ? unit + 0x10000 : unit
}

const surrogate = /[\ud800-\udfff]/

/** Sorts `strings` by {@link compareUtf8}, in place, in half the time that the comparison alone would take. */
export function sortUtf8(strings: string[]): string[] {
  // Without surrogates JavaScript's own order is the same, and the engine sorts faster without our comparison.
  return strings.sort(strings.some((text) => surrogate.test(text)) ? compareUtf8 : undefined)
}
