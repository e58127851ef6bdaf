import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { cachedChunk, largeChunk, smallChunk } from '../streams/chunk-sizes.ts'

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

/*
 * Each of these reads a range in its order. Where the file ends before the range, the last chunk is empty, and no other is.
 */

/** Reads by threads, each chunk into memory of its own. */
export function freshChunks(range: FileRange): AsyncGenerator<Buffer, void> {
  return chunksAhead(range, freshMemory)
}

/** Reads by threads into two buffers: each chunk is valid until the next one is asked for. */
export function reusedChunks(range: FileRange): AsyncGenerator<Buffer, void> {
  return chunksAhead(range, twoBuffers())
}

/** Milliseconds until timers and other connections have their turn: they would have none while no read and no write waits. */
const turnMs = 4

/** Milliseconds from which on a read is slow. One from the system's memory takes a hundredth of them. */
const slowReadMs = 2

/** How many bytes threads read after a slow read. */
const detourSize = 16 * 1024 ** 2

/**
 * Reads without threads into one buffer: each chunk is valid until the next one is asked for. To hand a read over to a thread costs as
 * much as the read. The process waits for the disk, so threads read the next 16 MiB after a slow read.
 */
export async function* blockingChunks(
  { file, start, end }: FileRange,
  slowMs = slowReadMs,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(cachedChunk, end - start))
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
    const detourEnd = Math.min(at + detourSize, end)
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
