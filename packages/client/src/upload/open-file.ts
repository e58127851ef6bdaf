import { open, stat, type FileHandle } from 'node:fs/promises'
import { HoldfastError } from '../errors/holdfast-error.ts'
import { largeChunk, smallChunk } from '../streams/chunk-sizes.ts'
import { reusing } from '../streams/reusing.ts'
import type { RereadableBody } from './upload-options.ts'

/** Where chunks of `chunkSize` bytes at most are read into. */
interface ChunkMemory {
  readonly chunkSize: number
  readonly bufferOf: (size: number) => Buffer<ArrayBuffer>
}

/** A range of an open file. */
interface FileRange {
  readonly file: FileHandle
  readonly start: number
  readonly end: number
}

/**
 * A file of this machine as what can be uploaded; of any size, it takes no memory. Fails with `changed-meanwhile` where it is not the
 * file any more that was opened, so that no mixture of two is stored. Not in browsers.
 *
 * @throws what `node:fs` throws
 */
export async function openFile(path: string): Promise<RereadableBody> {
  const opened = await versionOf(path)
  const requireSame = async () => {
    if ((await versionOf(path)).version !== opened.version) throw changedMeanwhile(path)
  }
  async function* chunks(start: number, end: number, memory = freshMemory) {
    if (start >= end) return requireSame()
    const file = await open(path)
    try {
      for await (const chunk of chunksAhead({ file, start, end }, memory)) {
        start += chunk.length
        if (chunk.length === 0) throw changedMeanwhile(path)
        // With the last chunk the server has all of it, and stores it.
        if (start === end) await requireSame()
        yield chunk
      }
    } finally {
      await file.close()
    }
  }
  return {
    size: opened.size,
    slice: (start, end) => ({
      [Symbol.asyncIterator]: () => chunks(start, end),
      [reusing]: () => chunks(start, end, twoBuffers()),
    }),
  }
}

/** Reads a chunk while the one before is in use. An empty one, and no other, follows where the file is shorter. */
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

function changedMeanwhile(path: string): HoldfastError {
  return new HoldfastError('changed-meanwhile', `The file has changed meanwhile: ${path}`)
}

async function versionOf(path: string) {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true })
  return { size: Number(size), version: [dev, ino, size, mtimeNs].join() }
}
