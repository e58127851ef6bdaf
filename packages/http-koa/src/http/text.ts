import type { IncomingMessage } from 'node:http'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that `bytes` are in UTF-8; `undefined` when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

const ascii = /^[\x00-\x7f]*$/

/**
 * A header's value as the text its sender meant. Node hands headers over as Latin-1 (RFC 9110 §5.5); curl and most
 * clients send UTF-8, so the bytes are read as UTF-8 where they are UTF-8. Browsers can send Latin-1 only, so other
 * bytes stay what they are.
 */
export function decodeHeaderText(value: string): string {
  if (ascii.test(value)) return value
  return decodeUtf8(Buffer.from(value, 'latin1')) ?? value
}

/**
 * `segment` of a path with its percent-encoding undone (RFC 3986 §2.1); `undefined` when that is malformed or not
 * UTF-8.
 */
export function decodePathSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/**
 * The values of the header `name`, in lower case, each as it was sent. For the few headers that must not be joined this
 * takes less time than `headersDistinct`, which Node makes of all of them.
 */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? ''
    if (field.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[index + 1] ?? '')
    }
  }
  return values
}
