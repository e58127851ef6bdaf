import { tusProblems } from './tus-problems.ts'

/** What a client said of its file in `Upload-Metadata`. */
export interface UploadMetadata {
  /** The header as it was sent. */
  readonly header: string
  /**
   * The text of a key; `undefined` if the client did not send it.
   * @throws HttpProblem 400 when the value is not UTF-8
   */
  text(key: string): string | undefined
}

/** As many bytes as a store keeps of a note. */
const maxHeaderBytes = 4096

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads `Upload-Metadata`: pairs of a key and a value in Base64, with a space between them and commas between the pairs.
 *
 * @throws HttpProblem 400 when it is no such list, has a key twice, or is longer than what is kept of it
 */
export function parseUploadMetadata(header: string): UploadMetadata {
  if (Buffer.byteLength(header) > maxHeaderBytes) {
    throw invalid(`it is longer than ${maxHeaderBytes} bytes`)
  }
  const values = new Map<string, string>()
  for (const pair of header === '' ? [] : header.split(',')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ')
    if (key === '') throw invalid('a key is empty')
    if (values.has(key)) throw invalid('a key is there twice')
    if (more.length > 0 || !base64.test(value)) throw invalid('a value is not Base64')
    values.set(key, value)
  }
  return {
    header,
    text(key) {
      const value = values.get(key)
      return value === undefined ? undefined : decode(value)
    },
  }
}

function decode(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'base64'))
  } catch {
    throw invalid('a value is not UTF-8')
  }
}

function invalid(reason: string) {
  return tusProblems.invalidHeader('upload-metadata', reason)
}
