export const boundary = 'boundary-of-a-test'
export const formType = `multipart/form-data; boundary=${boundary}`

type Bytes = string | Uint8Array

/** A part with the exact Content-Disposition given. */
export function part(disposition: Bytes, content: Bytes, type = 'text/plain'): Buffer {
  return join(
    `--${boundary}\r\nContent-Disposition: `,
    disposition,
    `\r\nContent-Type: ${type}\r\n\r\n`,
    content,
    '\r\n',
  )
}

export function filePart(filename: string, content: Bytes, field = 'file'): Buffer {
  return part(`form-data; name="${field}"; filename="${filename}"`, content)
}

export function textPart(name: string, value: Bytes): Buffer {
  return join(
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`,
    value,
    '\r\n',
  )
}

/** A whole form of these parts. */
export function form(...parts: readonly Bytes[]): Buffer {
  return join(...parts, `--${boundary}--\r\n`)
}

function join(...pieces: readonly Bytes[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
}
