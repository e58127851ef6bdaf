/** The head of an HTTP/1.1 response. */
export interface ResponseHead {
  readonly status: number
  /** By lower-case names. A field that occurs twice has its values joined by a comma (RFC 9110 §5.2). */
  readonly headers: ReadonlyMap<string, string>
}

const statusLine = /^HTTP\/1\.1 (\d{3})(?: |$)/
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Reads a head without its empty last line. @throws Error for what is none (RFC 9112 §4 and §5) */
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
 * How many bytes follow the head; `undefined` where only the end of something would tell (RFC 9112 §6.3), as with
 * chunks.
 */
export function contentLengthOf({ status, headers }: ResponseHead): number | undefined {
  // Whatever length it tells is that of what it does not send.
  if (status === 304) return 0
  const length = headers.get('content-length') ?? ''
  if (headers.has('transfer-encoding') || !/^\d{1,15}$/.test(length)) return undefined
  return Number(length)
}

function malformed(): Error {
  return Object.assign(new Error('The store does not answer in HTTP/1.1'), { code: 'EPROTO' })
}
