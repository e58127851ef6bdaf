import type { IncomingMessage } from 'node:http'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `bytes` decoded as UTF-8; `undefined` when they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The value of `text`, which is JSON; `undefined` for any other text, and for none. */
export function parseJson(text = '?'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const ascii = /^[\x00-\x7f]*$/

/**
 * A header's value as the text that its sender meant. Node decodes headers as Latin-1 (RFC 9110 §5.5). curl and most clients
 * send UTF-8, so bytes that are valid UTF-8 are decoded as such. Browsers can only send Latin-1, so other values stay as they
 * are.
 */
export function decodeHeaderText(value: string): string {
  if (ascii.test(value)) return value
  return decodeUtf8(Buffer.from(value, 'latin1')) ?? value
}

/**
 * `segment` of a path, percent-decoded (RFC 3986 §2.1); `undefined` when the encoding is malformed or not UTF-8.
 */
export function decodePathSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

/**
 * The values of the header `name`, which is in lower case; each value as it was sent. For a few headers this takes less time
 * than `headersDistinct`, which Node builds from all headers.
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

/** Names that need no quoting and no second form in Content-Disposition. Most names are so. */
const plainName = /^[\w.-]+$/

export function isPlainName(name: string): boolean {
  return plainName.test(name)
}
