import { open, stat, type FileHandle } from 'node:fs/promises'
import { readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { HoldfastError } from '../shared/holdfast-error.ts'
import { reusing, cachedChunk, largeChunk, smallChunk } from '../shared/transport.ts'
import { bytesBody, type RereadableBody } from './upload-options.ts'

export interface OpenFileOptions {
  /**
   * Whether an upload may block the process while it reads 64 KiB. That takes less processor time than reads by threads, and suits a
   * command, which has nothing else to do. Timers and other connections run every 4 ms; after a read of 2 ms or more, threads read the
   * next 16 MiB. Default: false.
   */
  readonly mayBlock?: boolean
}

/**
 * Opens a file of this machine for an upload. It uses no memory, whatever the size of the file. Reads fail with `changed-meanwhile` if the
 * file has changed since it was opened, so that no mixture of two versions is stored. If the file system does not know the size, as in
 * `/proc` and `/sys`, the content is read now. Not in browsers.
 *
 * @throws what `node:fs` throws; RangeError if the size is unknown and the content longer than 8 MiB
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
        // With the last chunk the server stores the file, so check it before.
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
  // A file of unknown size uses no disk blocks. Neither do empty files, and files that are one hole.
  const hasBlocks = blocks !== 0n
  return { size: Number(size), hasBlocks, version: [dev, ino, size, mtimeNs].join() }
}

/** Bytes; an upload of a stream holds as much in memory. */
const mostInMemory = 8 * 1024 ** 2

/**
 * The content of a file whose real length differs from `size`, the file system's value; `undefined` if `size` is right. Files of `/proc`
 * have a size of 0, those of `/sys` one of 4096, and some network file systems do not know the size before they have fetched the file.
 *
 * @throws RangeError if the lengths differ and the content is longer than 8 MiB
 */
async function readUnsized(path: string, size: number): Promise<Uint8Array | undefined> {
  const file = await open(path)
  try {
    // A file that is one hole may be huge, so do not read it to find its end.
    if (size > 0 && (await endsAt(file, size))) return undefined
    const content = await readToEnd(file)
    if (content === undefined) {
      throw new RangeError(`The size of ${path} is unknown until it is read; upload it as a stream`)
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

/** `undefined` if it is longer than {@link mostInMemory}. */
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

/** Memory for chunks of at most `chunkSize` bytes. */
interface ChunkMemory {
  readonly chunkSize: number
  readonly bufferOf: (size: number) => Buffer<ArrayBuffer>
}

/*
 * Each of the following functions reads a range from start to end. If the file ends before the range, the last chunk is empty; no other
 * chunk is.
 */

/** Reads by threads, each chunk into memory of its own. */
export function freshChunks(range: FileRange): AsyncGenerator<Buffer, void> {
  return chunksAhead(range, freshMemory)
}

/** Reads by threads into two buffers: each chunk is valid until the next one is asked for. */
export function reusedChunks(range: FileRange): AsyncGenerator<Buffer, void> {
  return chunksAhead(range, twoBuffers())
}

/** Milliseconds between two pauses for timers and other connections, which could not run while no read or write waits. */
const pauseEveryMs = 4

/** Milliseconds from which on a read is slow. A read from the system's memory takes a hundredth of that. */
const slowReadMs = 2

/** How many bytes threads read after a slow read. */
const threadedBytes = 16 * 1024 ** 2

/**
 * Reads without threads into one buffer: each chunk is valid until the next one is asked for. To hand a read to a thread costs as much as
 * the read. A slow read makes the process wait for the disk, so threads read the next 16 MiB after it.
 */
export async function* blockingChunks(
  { file, start, end }: FileRange,
  slowMs = slowReadMs,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(cachedChunk, end - start))
  let threadMemory: ChunkMemory | undefined
  let pausedAt = performance.now()
  for (let at = start; at < end;) {
    if (performance.now() - pausedAt > pauseEveryMs) {
      await setImmediate()
      pausedAt = performance.now()
    }
    const readAt = performance.now()
    const length = readSync(file.fd, buffer, 0, Math.min(buffer.length, end - at), at)
    const isSlow = performance.now() - readAt >= slowMs
    at += length
    yield buffer.subarray(0, length)
    if (length === 0) return
    if (!isSlow) continue
    const threadedEnd = Math.min(at + threadedBytes, end)
    threadMemory ??= twoBuffers()
    for await (const chunk of chunksAhead({ file, start: at, end: threadedEnd }, threadMemory)) {
      at += chunk.length
      yield chunk
      if (chunk.length === 0) return
    }
  }
}

/** Reads the next chunk while the caller uses the current one. */
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
    // The `await` of it reports its error.
    reading.catch(() => {})
    yield chunk
    if (chunk.length === 0) return
  }
}

/** Small chunks, since large ones would pile up until they are collected. */
const freshMemory: ChunkMemory = {
  chunkSize: smallChunk,
  bufferOf: (size) => Buffer.allocUnsafe(size),
}

/** Alternates between two buffers: one is filled while the other is in use. */
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
