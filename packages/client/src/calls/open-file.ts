import { open, stat, type FileHandle } from 'node:fs/promises'
import { readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { HoldfastError } from '../shared/holdfast-error.ts'
import { reusing, cachedChunk, largeChunk, smallChunk } from '../shared/chunks.ts'
import { bytesBody, type RereadableBody } from './upload-options.ts'

export interface OpenFileOptions {
  /**
   * Whether an upload may block the process while it reads 64 KiB. That takes less of the processor than reads by threads, and suits a
   * command, which has nothing else to do. Timers and other connections have their turn every 4 ms; after a read of 2 ms or more
   * threads read the next 16 MiB. Default: false.
   */
  readonly mayBlock?: boolean
}

/**
 * A file of this machine as what can be uploaded; of any size, it takes no memory. Fails with `changed-meanwhile` where it is not the
 * file any more that was opened, so that no mixture of two is stored. Where the file system does not know the size, as in `/proc` and
 * `/sys`, the content is what the file has now. Not in browsers.
 *
 * @throws what `node:fs` throws; RangeError where the size is not known and the content longer than 8 MiB
 */
export async function openFile(
  path: string,
  { mayBlock = false }: OpenFileOptions = {},
): Promise<RereadableBody> {
  const opened = await versionOf(path)
  const unsized = opened.hasBlocks ? undefined : await readUnsized(path, opened.size)
  if (unsized !== undefined) return bytesBody(unsized)
  const requireSame = async () => {
    if ((await versionOf(path)).version !== opened.version) throw changedMeanwhile(path)
  }
  async function* chunks(start: number, end: number, read: typeof freshChunks) {
    if (start >= end) return requireSame()
    const file = await open(path)
    try {
      for await (const chunk of read({ file, start, end })) {
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
      [Symbol.asyncIterator]: () => chunks(start, end, freshChunks),
      [reusing]: () => chunks(start, end, mayBlock ? blockingChunks : reusedChunks),
    }),
  }
}

function changedMeanwhile(path: string): HoldfastError {
  return new HoldfastError('changed-meanwhile', `The file has changed meanwhile: ${path}`)
}

async function versionOf(path: string) {
  const { dev, ino, size, mtimeNs, blocks } = await stat(path, { bigint: true })
  // Where the size is not known, no block of a disk is used either. There are other such files: empty ones, and those of one hole.
  const hasBlocks = blocks !== 0n
  return { size: Number(size), hasBlocks, version: [dev, ino, size, mtimeNs].join() }
}

/** So much of a stream an upload holds in memory, too. */
const mostInMemory = 8 * 1024 ** 2

/**
 * The content of a file if it is not as long as `size`, which the file system gives. Files of `/proc` have a size of 0, those of `/sys`
 * one of 4096, and some file systems over the network do not know the size before they have fetched the file. `undefined` if `size` is
 * right.
 *
 * @throws RangeError if the content is not as long as `size`, and longer than 8 MiB
 */
async function readUnsized(path: string, size: number): Promise<Uint8Array | undefined> {
  const file = await open(path)
  try {
    // A file that is one hole must not be read to find its end.
    if (size > 0 && (await endsAt(file, size))) return undefined
    const content = await readToEnd(file)
    if (content === undefined) {
      throw new RangeError(`The size of ${path} is not known before it is read; upload a stream`)
    }
    return content.length === size ? undefined : content
  } finally {
    await file.close()
  }
}

async function endsAt(file: FileHandle, size: number): Promise<boolean> {
  const { bytesRead } = await file.read(Buffer.alloc(2), 0, 2, size - 1)
  return bytesRead === 1
}

/** `undefined` for what does not go into memory. */
async function readToEnd(file: FileHandle): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = []
  for (let length = 0; length <= mostInMemory;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, length)
    if (bytesRead === 0) return Buffer.concat(chunks)
    chunks.push(buffer.subarray(0, bytesRead))
    length += bytesRead
  }
  return undefined
}

/** A range of an open file. */
interface FileRange {
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
