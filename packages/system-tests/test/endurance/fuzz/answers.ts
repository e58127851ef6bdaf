/** An answer as it was on the wire. */
export interface WireAnswer {
  readonly status: number
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** What is in bytes from the wire. */
export interface WireAnswers {
  readonly answers: readonly WireAnswer[]
  /** Whether the bytes end in the middle of an answer. */
  readonly isCut: boolean
}

const statusLine = /^HTTP\/1\.1 (\d{3}) [ -~]+$/
const headerLine = /^([A-Za-z][A-Za-z-]*): ([!-~](?:[ -~]*[!-~])?)$/

/**
 * Takes the answers apart, as strictly as RFC 9112 allows. With `mayBeHead`, each may be without its body.
 * @throws Error for anything that is no answer
 */
export function parseAnswers(bytes: Buffer, mayBeHead = false): WireAnswers {
  const answers: WireAnswer[] = []
  let rest = bytes
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return { answers, isCut: true }
    const { status, headers } = parseHead(rest.subarray(0, end).toString('latin1'))
    rest = rest.subarray(end + 4)
    const hasNone = status < 200 || status === 204 || status === 304
    const isHead = mayBeHead && (rest.length === 0 || rest.subarray(0, 7).equals(nextAnswer))
    const found = hasNone || isHead ? noBody(rest) : parseBody(headers, rest)
    if (found === undefined) return { answers, isCut: true }
    answers.push({ status, headers, body: found.body })
    rest = found.rest
  }
  return { answers, isCut: false }
}

const nextAnswer = Buffer.from('HTTP/1.')

function parseHead(head: string) {
  const [first = '', ...lines] = head.split('\r\n')
  const status = statusLine.exec(first)?.[1]
  if (status === undefined) throw new Error(`No status line: ${JSON.stringify(first)}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name === undefined || value === undefined) {
      throw new Error(`No header: ${JSON.stringify(line)}`)
    }
    if (headers.has(name.toLowerCase())) throw new Error(`Two headers ${name}`)
    headers.set(name.toLowerCase(), value)
  }
  return { status: Number(status), headers }
}

interface Body {
  readonly body: Buffer
  readonly rest: Buffer
}

const end = Buffer.alloc(0)
const noBody = (rest: Buffer): Body => ({ body: end, rest })

function parseBody(headers: ReadonlyMap<string, string>, bytes: Buffer): Body | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return parseChunks(bytes)
  const length = Number(headers.get('content-length') ?? NaN)
  // For those who speak HTTP/1.0 (RFC 9112 §6.3).
  if (Number.isNaN(length) && headers.get('connection') === 'close')
    return { body: bytes, rest: end }
  if (Number.isNaN(length)) throw new Error('An answer without a length')
  if (bytes.length < length) return undefined
  return { body: bytes.subarray(0, length), rest: bytes.subarray(length) }
}

function parseChunks(bytes: Buffer): Body | undefined {
  const chunks: Buffer[] = []
  let rest = bytes
  while (true) {
    const end = rest.indexOf('\r\n')
    if (end < 0) return undefined
    const size = parseInt(rest.subarray(0, end).toString('latin1'), 16)
    const next = end + 2 + size + 2
    if (rest.length < next) return undefined
    chunks.push(rest.subarray(end + 2, end + 2 + size))
    rest = rest.subarray(next)
    if (size === 0) return { body: Buffer.concat(chunks), rest }
  }
}
