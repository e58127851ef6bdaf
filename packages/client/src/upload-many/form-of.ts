/** A file of a form. */
export interface SmallFile {
  readonly name: string
  readonly bytes: Uint8Array
  readonly sha256: string | undefined
}

/** The body of a `multipart/form-data` request. */
export interface Form {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Whether the server reads from a form the same name that was written into it, instead of another, or none. */
export function isNameForForms(name: string): boolean {
  return name.isWellFormed() && !/^\.{0,2}$|[\u0000-\u001f\u007f/\ufffd]/.test(name)
}

/** The files as `POST /upload/batch` takes them, a digest before its file. */
export function formOf(files: readonly SmallFile[]): Form {
  const random = crypto.getRandomValues(new Uint32Array(4))
  const boundary = `holdfast-${[...random].map((part) => part.toString(36)).join('')}`
  const encoder = new TextEncoder()
  const parts = files.flatMap(({ name, bytes, sha256 }) => {
    const digest = sha256 === undefined ? '' : partOf(boundary, 'name="sha256"') + sha256 + '\r\n'
    // In `filename` a server cannot distinguish "%22" from a quote.
    const head = partOf(boundary, `name="file"; filename*=UTF-8''${extendedValueOf(name)}`)
    return [encoder.encode(digest + head), bytes, encoder.encode('\r\n')]
  })
  parts.push(encoder.encode(`--${boundary}--\r\n`))
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: joined(parts) }
}

const partOf = (boundary: string, parameters: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${parameters}\r\n\r\n`

/** RFC 8187 §3.2.1. */
function extendedValueOf(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
