/** The head of an HTTP/1.1 response. */
export interface ResponseHead {
  readonly status: number
  /** By names in lower case. The values of a field that occurs twice are joined by a comma (RFC 9110 §5.2). */
  readonly headers: ReadonlyMap<string, string>
}

const statusLine = /^HTTP\/1\.1 (\d{3})(?: |$)/
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Parses a head without its empty last line. @throws Error if it is malformed (RFC 9112 §4 and §5) */
export function parseResponseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, status] = statusLine.exec(first) ?? []
  if (status === undefined) throw malformed()
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    if (!fieldName.test(name)) throw malformed()
    const value = line.slice(colon + 1).trim()
    const known = headers.get(name)
    headers.set(name, known === undefined ? value : `${known}, ${value}`)
  }
  return { status: Number(status), headers }
}

/**
 * The length of the body, in bytes; `undefined` if the head does not say it, as with chunks or a body that ends with the
 * connection (RFC 9112 §6.3).
 */
export function contentLengthOf({ status, headers }: ResponseHead): number | undefined {
  // It has no body; its Content-Length, if any, is that of the object (RFC 9110 §8.6).
  if (status === 304) return 0
  const length = headers.get('content-length') ?? ''
  if (headers.has('transfer-encoding') || !/^\d{1,15}$/.test(length)) return undefined
  return Number(length)
}

function malformed(): Error {
  return Object.assign(new Error('The store does not answer in HTTP/1.1'), { code: 'EPROTO' })
}
