/** A whole answer as it came on a connection. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** The bytes, a character each. */
  readonly body: string
}

export interface ParsedAnswer {
  readonly answer: Answer
  /** What follows the answer. */
  readonly rest: Buffer
}

export interface ParseOptions {
  /** Whether the answer is one to HEAD, which has no body whatever its headers say. */
  readonly toHead: boolean
  /** Whether nothing more is coming. */
  readonly isClosed: boolean
}

/** The first answer in `bytes` (RFC 9112 §6.3); `undefined` while it is not whole. */
export function parseAnswer(bytes: Buffer, options: ParseOptions): ParsedAnswer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (Number.isNaN(status)) throw new Error(`No status line: ${statusLine}`)
  const headers = new Headers(lines.map((line) => splitAt(line, line.indexOf(':'))))
  const body = takeBody(bytes.subarray(headEnd + 4), status, headers, options)
  if (body === undefined) return undefined
  const { content, rest } = body
  return { answer: { status, headers, bytes: content, body: content.toString('latin1') }, rest }
}

interface Body {
  readonly content: Buffer
  readonly rest: Buffer
}

function takeBody(
  bytes: Buffer,
  status: number,
  headers: Headers,
  { toHead, isClosed }: ParseOptions,
): Body | undefined {
  if (toHead || status < 200 || status === 204 || status === 304) return cut(bytes, 0, 0)
  if (headers.get('transfer-encoding') === 'chunked') return takeChunks(bytes)
  const length = headers.get('content-length')
  if (length !== null)
    return bytes.length < Number(length) ? undefined : cut(bytes, Number(length), 0)
  return isClosed ? cut(bytes, bytes.length, 0) : undefined
}

function takeChunks(bytes: Buffer): Body | undefined {
  const chunks: Buffer[] = []
  let rest = bytes
  while (true) {
    const lineEnd = rest.indexOf('\r\n')
    const size = parseInt(rest.subarray(0, lineEnd).toString('latin1'), 16)
    if (lineEnd < 0 || rest.length < lineEnd + size + 4) return undefined
    const chunk = cut(rest.subarray(lineEnd + 2), size, 2)
    chunks.push(chunk.content)
    rest = chunk.rest
    if (size === 0) return { content: Buffer.concat(chunks), rest }
  }
}

function cut(bytes: Buffer, length: number, skipped: number): Body {
  return { content: bytes.subarray(0, length), rest: bytes.subarray(length + skipped) }
}

function splitAt(line: string, index: number): [string, string] {
  return [line.slice(0, index), line.slice(index + 1).trim()]
}
