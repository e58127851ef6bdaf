/**
 * Whether bytes can be the name of a file, written from docs/api.md and not from the code: 1 to 255 bytes of UTF-8,
 * neither `.` nor `..`, no slash, no control character.
 */
export function isName(name: string): boolean {
  const bytes = Buffer.from(name)
  const isUnicode = bytes.toString() === name
  const isDots = name === '.' || name === '..'
  const isAllowed = bytes.every((byte) => byte >= 0x20 && byte !== 0x2f && byte !== 0x7f)
  return isUnicode && !isDots && isAllowed && bytes.length >= 1 && bytes.length <= 255
}
