import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { largeChunk, smallChunk } from '../streams/chunk-sizes.ts'

/** A range of an open file. */
export interface FileRange {
  readonly file: FileHandle
  readonly start: number
  readonly end: number
}

/** Where chunks of `chunkSize` bytes at most are read into. */
interface ChunkMemory {
  readonly chunkSize: number
  readonly bufferOf: (size: number) => Buffer<ArrayBuffer>
}

/** Reads by threads; each chunk is the reader's own. An empty one, and no other, follows where the file is shorter. */
export function ownChunks(range: FileRange): AsyncGenerator<Buffer, void> {
  return chunksAhead(range, freshMemory)
}

/** The same, but each chunk is valid until the next one is asked for. */
export function passingChunksOf(range: FileRange): AsyncGenerator<Buffer, void> {
  return chunksAhead(range, twoBuffers())
}

/** So much stays in the processor's cache between its reading and its sending. */
const atHandChunk = 64 * 1024

/** Reads and writes that never wait would keep all else in the process from its turn. */
const turnMs = 4

/** From the system's memory a read takes a hundredth of this. */
const slowReadMs = 2

/** How much is read by threads after a slow read. */
const detour = 16 * 1024 ** 2

/**
 * The same without threads: handing a read over to one, and back, costs as much as the read. The process waits for the disk
 * meanwhile, so where that is slow the next 16 MiB are read by threads again.
 *
 * @param slowMs milliseconds from which on a read is slow
 */
export async function* chunksAtHand(
  { file, start, end }: FileRange,
  slowMs = slowReadMs,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(atHandChunk, end - start))
  let detourMemory: ChunkMemory | undefined
  let turnAt = performance.now()
  for (let at = start; at < end;) {
    if (performance.now() - turnAt > turnMs) {
      await setImmediate()
      turnAt = performance.now()
    }
    const readAt = performance.now()
    const length = readSync(file.fd, buffer, 0, Math.min(buffer.length, end - at), at)
    const isSlow = performance.now() - readAt >= slowMs
    at += length
    yield buffer.subarray(0, length)
    if (length === 0) return
    if (!isSlow) continue
    const detourEnd = Math.min(at + detour, end)
    detourMemory ??= twoBuffers()
    for await (const chunk of chunksAhead({ file, start: at, end: detourEnd }, detourMemory)) {
      at += chunk.length
      yield chunk
      if (chunk.length === 0) return
    }
  }
}

/** Reads a chunk while the one before is in use. */
async function* chunksAhead(
  { file, start, end }: FileRange,
  { chunkSize, bufferOf }: ChunkMemory,
): AsyncGenerator<Buffer, void> {
  const readFrom = async (at: number) => {
    const size = Math.min(chunkSize, end - at)
    const { buffer, bytesRead } = await file.read(bufferOf(size), 0, size, at)
    return buffer.subarray(0, bytesRead)
  }
  let reading = readFrom(start)
  for (let at = start; at < end;) {
    const chunk = await reading
    at += chunk.length
    if (at < end && chunk.length > 0) reading = readFrom(at)
    // Whoever waits for it gets its error.
    reading.catch(() => {})
    yield chunk
    if (chunk.length === 0) return
  }
}

/** Large ones would pile up until they are collected. */
const freshMemory: ChunkMemory = {
  chunkSize: smallChunk,
  bufferOf: (size) => Buffer.allocUnsafe(size),
}

/** Two buffers by turns: one is filled while the other is in use. */
function twoBuffers(): ChunkMemory {
  let [next, other] = [Buffer.alloc(0), Buffer.alloc(0)]
  return {
    chunkSize: largeChunk,
    bufferOf: (size) => {
      ;[next, other] = [other, next]
      if (other.length < size) other = Buffer.allocUnsafeSlow(size)
      return other
    },
  }
}
