/** Servers and proxies take at least 8 KiB for all headers together. */
const maxBytes = 4096

const controlCharacter = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * Why `text` cannot be the value of a header (RFC 9110 §5.5), so that a customer could never log in with it: the end of a
 * sentence whose subject is `text`. `undefined` if it can.
 */
export function headerProblem(text: string): string | undefined {
  if (text === '') return 'is empty'
  if (controlCharacter.test(text)) {
    return 'has a line break or another control character in it, which no header can carry'
  }
  if (/^[ \t]|[ \t]$/.test(text)) {
    return 'begins or ends with a space, which HTTP takes off every header'
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) return `has ${bytes} bytes, and ${maxBytes} is the most for a header`
  return undefined
}
