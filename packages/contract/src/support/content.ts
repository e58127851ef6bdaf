import { createHash } from 'node:crypto'
import { endianness } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

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

export const KiB = 1024
export const MiB = 1024 * KiB

/** Yields `bytes` in chunks of `chunkSize`; the last one may be shorter. No chunk for no bytes. */
export async function* inChunks(bytes: Uint8Array, chunkSize = 64 * KiB) {
  for (let offset = 0; offset < bytes.length; offset += chunkSize) {
    yield bytes.subarray(offset, offset + chunkSize)
  }
}

/** Yields the given chunks unchanged. */
export async function* chunks(...parts: readonly Uint8Array[]) {
  yield* parts
}

/** Yields `size` bytes of a pattern in chunks of 64 KiB, made on demand. */
export async function* generated(size: number, seed = 1) {
  for (let offset = 0; offset < size; offset += 64 * KiB) {
    yield pattern(Math.min(64 * KiB, size - offset), { seed, offset })
  }
}

/** Yields `bytes` with an empty chunk before, after and between all chunks. */
export async function* withEmptyChunks(bytes: Uint8Array, chunkSize = 64 * KiB) {
  for await (const chunk of inChunks(bytes, chunkSize)) {
    yield new Uint8Array()
    yield chunk
  }
  yield new Uint8Array()
}

/** Yields `bytes`, then throws `error`. */
export async function* failing(bytes: Uint8Array, error: Error, chunkSize = 64 * KiB) {
  yield* inChunks(bytes, chunkSize)
  throw error
}

/** Yields `bytes`, and waits a millisecond before every chunk and before the end. */
export async function* slow(bytes: Uint8Array, chunkSize = 64 * KiB) {
  for await (const chunk of inChunks(bytes, chunkSize)) {
    await delay(1)
    yield chunk
  }
  await delay(1)
}

/** Content that stalls until `release` is called. */
export interface GatedSource {
  readonly content: AsyncIterable<Uint8Array>
  /** Resolves when all before the gate has been taken and more is requested. */
  readonly stalled: Promise<void>
  /** Opens the gate. Until then the content stalls, and so does closing it. */
  readonly release: () => void
}

/** Yields `before`, waits at a gate, then yields `after`. */
export function gated(before: Uint8Array, after = new Uint8Array()): GatedSource {
  const stalled = Promise.withResolvers<undefined>()
  const gate = Promise.withResolvers<undefined>()
  async function* content() {
    yield* inChunks(before)
    stalled.resolve(undefined)
    await gate.promise
    yield* inChunks(after)
  }
  return {
    content: content(),
    stalled: stalled.promise,
    release: () => gate.resolve(undefined),
  }
}

/** Content that records how it was used. */
export interface RecordedSource extends AsyncIterable<Uint8Array> {
  /** How many iterators were requested. */
  iterations(): number
  /** How many chunks were requested. */
  asked(): number
  /** The most chunks that were requested at the same time. */
  mostAskedAtOnce(): number
  /** Whether no iterator is open: each was never started, has ended or failed, or was closed by the reader. */
  isClosed(): boolean
}

/** Records how `content` is used. */
export function recorded(content: AsyncIterable<Uint8Array>): RecordedSource {
  const seen = { iterations: 0, asked: 0, pending: 0, mostPending: 0, open: 0 }

  const step = async (iterator: AsyncIterator<Uint8Array>) => {
    seen.asked++
    seen.pending++
    seen.mostPending = Math.max(seen.mostPending, seen.pending)
    try {
      const result = await iterator.next()
      if (result.done === true) seen.open = 0
      return result
    } catch (error) {
      seen.open = 0
      throw error
    } finally {
      seen.pending--
    }
  }

  return {
    [Symbol.asyncIterator]() {
      const iterator = content[Symbol.asyncIterator]()
      seen.iterations++
      seen.open = 1
      return {
        next: () => step(iterator),
        return: async () => {
          seen.open = 0
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
    iterations: () => seen.iterations,
    asked: () => seen.asked,
    mostAskedAtOnce: () => seen.mostPending,
    isClosed: () => seen.open === 0,
  }
}
