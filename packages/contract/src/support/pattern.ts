import { createHash } from 'node:crypto'
import { endianness } from 'node:os'

/** Selects the bytes of a pattern; they are the same on every machine and in every version of this package. */
export interface PatternOptions {
  /** The number of the pattern; two patterns differ in nearly every byte. Default: 1. */
  readonly seed?: number
  /** The first byte, from 0, in the endless pattern. Default: 0. */
  readonly offset?: number
}

/** `length` bytes of a pattern that looks random, so that a test notices every shifted, repeated or zeroed part. */
export function pattern(
  length: number,
  { seed = 1, offset = 0 }: PatternOptions = {},
): Uint8Array<ArrayBuffer> {
  const first = offset >>> 2
  const words = new Uint32Array(((offset + length + 3) >>> 2) - first)
  fillWithPattern(words, seed, first)
  if (endianness() === 'BE') Buffer.from(words.buffer).swap32()
  return new Uint8Array(words.buffer, offset & 3, length)
}

/** Fills word by word in one function: while coverage is collected, a call for each byte takes eight times as long. */
function fillWithPattern(words: Uint32Array, seed: number, first: number): void {
  const start = Math.imul(seed, 0x9e3779b1)
  for (let i = 0; i < words.length; i++) {
    let word = start ^ (first + i)
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
    words[i] = word ^ (word >>> 16)
  }
}

/** Equal for equal contents. */
export interface Digest {
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** Reads `content` to its end, without keeping it. */
export async function digest(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Digest> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of content) {
    hash.update(chunk)
    size += chunk.length
  }
  return { size, sha256: hash.digest('hex') }
}
