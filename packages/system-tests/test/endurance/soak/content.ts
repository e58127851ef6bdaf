import { createCipheriv, createHash } from 'node:crypto'

/** One content of one file, known without being kept: it follows from the first four fields. */
export interface Version {
  readonly customer: string
  readonly name: string
  /** Which upload of the whole run it was; no two have the same. */
  readonly sequence: string
  readonly size: number
  /** Of the whole content, in hexadecimal. */
  readonly sha256: string
  /** What the server calls it, once it has said so; with the quotes. */
  etag?: string
}

/** What identifies a content. */
export type Stamp = Pick<Version, 'customer' | 'name' | 'sequence' | 'size'>

/** Makes a version and its content. */
export function createVersion(stamp: Stamp): { version: Version; content: Buffer } {
  const content = contentOf(stamp)
  return { version: { ...stamp, sha256: sha256(content) }, content }
}

/**
 * `size` bytes that nobody else has: a line that says whose they are and what the rest must be, then what looks like
 * noise. Too small a content for the line is noise alone.
 */
export function contentOf({ customer, name, sequence, size }: Stamp): Buffer {
  const lineOf = (checksum: string) =>
    Buffer.from(`${JSON.stringify({ customer, sequence, size, checksum, name })}\n`)
  const key = JSON.stringify([customer, name, sequence, size])
  const line = lineOf(sha256(Buffer.alloc(0)))
  if (line.length > size) return noise(key, size)
  const rest = noise(key, size - line.length)
  return Buffer.concat([lineOf(sha256(rest)), rest])
}

/** What a content says of itself, in words; for what should not have been there. */
export function describeContent(content: Buffer): string {
  const end = content.indexOf('\n')
  const stamp = end < 0 ? undefined : parseStamp(content.toString('utf8', 0, end))
  if (stamp === undefined) {
    const start = content.toString('hex', 0, 16)
    return `${content.length} bytes without a stamp, which begin with ${start || 'nothing'}`
  }
  const { customer, name, sequence, size, checksum } = stamp
  const isWhole = content.length === size && sha256(content.subarray(end + 1)) === checksum
  const state = isWhole ? 'whole' : `NOT whole: ${content.length} of ${size} bytes`
  return `upload ${sequence} of customer ${customer}, file ${JSON.stringify(name)}, ${state}`
}

export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function noise(key: string, size: number): Buffer {
  const cipher = createCipheriv('aes-128-ctr', createHash('md5').update(key).digest(), iv)
  return cipher.update(Buffer.alloc(size))
}

const iv = Buffer.alloc(16)

function parseStamp(line: string): (Stamp & { readonly checksum: string }) | undefined {
  try {
    const stamp = JSON.parse(line) as Stamp & { readonly checksum: string }
    return typeof stamp.sequence === 'string' ? stamp : undefined
  } catch {
    return undefined
  }
}
