import { HoldfastError } from '../shared/holdfast-error.ts'

/** A file in the answer to `POST /serve/batch`. */
export interface ArchivedFile {
  readonly name: string
  /** The value of a header that the file's own answer would have; the name is in lower case. */
  readonly header: (name: string) => string | undefined
  readonly content: Uint8Array
}

/** All of an archive has this unit. */
const blockSize = 512

/** More than the headers of a file can have. */
const longestRecords = 64 * 1024

/** After the end of an archive there is nothing but a second block of zeros. */
const longestTail = 10 * 1024

/**
 * The files in an archive of tar as the server writes it, each when it has arrived: in the pax interchange format (POSIX.1-2024, pax), with
 * headers of HTTP as JSON in `comment`.
 *
 * @param largest the most bytes that a file may have; it is held in memory
 *
 * @throws HoldfastError, `no-answer`, for an archive that is not complete, and `unknown` for anything else
 */
export async function* filesIn(
  body: AsyncIterable<Uint8Array>,
  largest: number,
): AsyncGenerator<ArchivedFile, void> {
  const reader = createReader(body)
  let records: ReadonlyMap<string, string> | undefined
  try {
    while (true) {
      const block = reader.take(blockSize) ?? (await reader.next(blockSize))
      if (block[0] === 0 && isZero(block)) break
      const { type, name, size } = parseHeader(block)
      if (size > (type === 'x' ? longestRecords : largest)) throw unreadable()
      const padded = Math.ceil(size / blockSize) * blockSize
      const content = (reader.take(padded) ?? (await reader.next(padded))).subarray(0, size)
      if ((type === 'x') === (records !== undefined)) throw unreadable()
      if (records === undefined) records = parseRecords(content)
      else {
        const headers = parseHeaders(records.get('comment') ?? '')
        const path = records.get('path') ?? name
        yield { name: path, header: (wanted) => headers.get(wanted), content }
        records = undefined
      }
    }
    await reader.drain(longestTail)
  } finally {
    await reader.close()
  }
}

/** Reads so many bytes at a time. */
interface Reader {
  /** The next `length` bytes, if they have arrived. */
  take(length: number): Uint8Array | undefined
  /** @throws HoldfastError, `no-answer`, if there are fewer */
  next(length: number): Promise<Uint8Array>
  /** Reads the rest, so that the connection can be used again, unless there are more than `most` bytes. */
  drain(most: number): Promise<void>
  close(): Promise<void>
}

function createReader(body: AsyncIterable<Uint8Array>): Reader {
  const iterator = body[Symbol.asyncIterator]()
  let chunk: Uint8Array = new Uint8Array(0)
  let position = 0
  const take = (length: number) => {
    if (position + length > chunk.length) return undefined
    position += length
    return chunk.subarray(position - length, position)
  }
  return {
    take,
    async next(length) {
      const parts = [chunk.subarray(position)]
      let size = chunk.length - position
      while (size < length) {
        const step = await iterator.next()
        if (step.done) throw new HoldfastError('no-answer', 'The answer was cut off')
        parts.push(step.value)
        size += step.value.length
      }
      chunk = joined(parts, size)
      position = length
      return chunk.subarray(0, length)
    },
    async drain(most) {
      for (let size = 0; size <= most;) {
        const step = await iterator.next()
        if (step.done) return
        size += step.value.length
      }
    },
    close: async () => void (await iterator.return?.()),
  }
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const text = new TextDecoder()

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0)
}

/** Where a header has its checksum, which counts as spaces. */
const checksum = { start: 148, end: 156 }

function parseHeader(block: Uint8Array) {
  let sum = 0
  for (let at = 0; at < blockSize; at++) {
    sum += at >= checksum.start && at < checksum.end ? 32 : (block[at] ?? 0)
  }
  const type = String.fromCharCode(block[156] ?? 0)
  const size = octal(block, 124, 136)
  const isRight = sum === octal(block, checksum.start, checksum.end) && Number.isInteger(size)
  if (!isRight || (type !== 'x' && type !== '0')) throw unreadable()
  const [name = ''] = text.decode(block.subarray(0, 100)).split('\0')
  return { type, name, size }
}

function octal(block: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = (block[at] ?? 0) - 48
    if (digit < 0) break
    value = digit > 7 ? NaN : value * 8 + digit
  }
  return value
}

/** Each record has its length in decimal, a space, a keyword, `=`, a value, and a line feed. */
function parseRecords(bytes: Uint8Array): ReadonlyMap<string, string> {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at)
    const length = Number(text.decode(bytes.subarray(at, space)))
    const record = text.decode(bytes.subarray(space + 1, at + length))
    const equals = record.indexOf('=')
    if (!(length > 0) || at + length > bytes.length || equals < 0 || !record.endsWith('\n')) {
      throw unreadable()
    }
    records.set(record.slice(0, equals), record.slice(equals + 1, -1))
    at += length
  }
  return records
}

/** The headers in a JSON object, in lower case; without those that every file has, it is none of holdfast's. */
function parseHeaders(json: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  try {
    for (const [name, value] of Object.entries(JSON.parse(json) as object)) {
      found.set(name.toLowerCase(), String(value))
    }
  } catch {
    throw unreadable()
  }
  if (!found.has('etag') || Number.isNaN(Date.parse(found.get('last-modified') ?? ''))) {
    throw unreadable()
  }
  return found
}

function unreadable(): HoldfastError {
  return new HoldfastError('unknown', 'The answer is no archive of holdfast')
}
