import type { ByteRange } from '@holdfast/core'
import { createBufferPool } from '../files/buffer-pool.ts'
import { pooledCalls, translateFsError } from '../files/file-calls.ts'

/** Bytes per read, one call of the thread pool. A slow reader holds two such chunks. */
const chunkSize = 256 * 1024

/** New memory costs about as much as its use, so 8 MiB are kept. */
const pool = createBufferPool(chunkSize, 32)

/** An open file. */
export interface ReadableFile {
  /** Reads into `bytes` from `position` on; resolves with how many, 0 at the end. */
  read(bytes: Uint8Array, position: number): Promise<number>
  close(): Promise<void>
}

/** The file of a descriptor, which it closes. */
export function readByPool(descriptor: number): ReadableFile {
  return {
    read: (bytes, position) => pooledCalls.read(descriptor, bytes, position),
    close: () => pooledCalls.close(descriptor),
  }
}

export interface FileContent {
  /** The file is closed once its iterator ends, fails or is stopped. */
  readonly content: AsyncIterable<Uint8Array>
  /** Closes the file, whether or not it was read. */
  readonly close: () => Promise<void>
}

/**
 * The bytes of `range` of `file`, which it owns from now on. While a chunk is in use it reads the next one, and no more. The reader may
 * keep a chunk for good; with `reuseChunks`, only until it asks for the next one or the file is closed. Fails if the file is shorter than
 * expected.
 */
export function createFileContent(
  file: ReadableFile,
  range: ByteRange,
  reuseChunks = false,
): FileContent {
  const end = range.offset + range.length
  const buffers = reuseChunks ? pool.borrow() : freshBuffers
  let position = range.offset
  let reading: Promise<Uint8Array | undefined> | undefined
  let closing: Promise<void> | undefined

  const readChunk = async () => {
    if (position === end) return undefined
    const length = Math.min(chunkSize, end - position)
    const buffer = buffers.next(length)
    const bytesRead = await translateFsError(file.read(buffer.subarray(0, length), position))
    if (bytesRead === 0) throw becameShorter(position, end)
    position += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  const readAhead = () => {
    const chunk = readChunk()
    // The reader of the chunk gets the error, if there is one.
    chunk.catch(() => {})
    return chunk
  }

  const refuseIfClosed = () => {
    if (closing) throw closedWhileRead()
  }

  const nextChunk = async () => {
    refuseIfClosed()
    reading ??= readAhead()
    const chunk = await reading
    // If the file was closed during the read, its buffer may be in use again.
    refuseIfClosed()
    reading = chunk && readAhead()
    return chunk
  }

  const close = () => {
    closing ??= (async () => {
      // A read that runs after the close could read another file with this descriptor, into a buffer that holds another chunk.
      await reading?.catch(() => {})
      buffers.release()
      await file.close()
    })()
    return closing
  }
  return { content: closedAtEnd(nextChunk, close), close }
}

const freshBuffers = {
  next: (length: number) => Buffer.allocUnsafeSlow(length),
  release: () => {},
}

export function becameShorter(position: number, end: number): Error {
  return new Error(`A file became shorter while it was read: ${position} of ${end} bytes`)
}

/** Has the error code of a stream that is destroyed while it is read. */
function closedWhileRead(): Error {
  const message = 'The file was closed while it was read'
  return Object.assign(new Error(message), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}

/** The results of `nextChunk` up to `undefined`. Before the reader sees the end, or an error, `close` is done. */
function closedAtEnd(
  nextChunk: () => Promise<Uint8Array | undefined>,
  close: () => Promise<void>,
): AsyncIterableIterator<Uint8Array> {
  let isEnded = false
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    isEnded = true
    await close()
    return { done: true, value: undefined }
  }
  return {
    async next() {
      try {
        const value = isEnded ? undefined : await nextChunk()
        return value === undefined ? await end() : { done: false, value }
      } catch (error) {
        await close()
        throw error
      }
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
