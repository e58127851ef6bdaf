import type { FileHandle } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { Readable } from 'node:stream'
import type { ByteRange } from '@holdfast/core'
import { namingFailure } from './naming-failure.ts'

/** Bytes per read: what a thread of the pool does in one go, and what a slow reader holds. */
const chunkSize = 256 * 1024

export interface FileContent {
  /** A stream, so that Node can pipe it; its iterator has closed the file when it ends, fails or is stopped. */
  readonly content: Readable
  /** Closes the file, whether or not it was read. */
  close(): Promise<void>
}

/** The bytes of `range` of `file`, which it owns from now on. Fails if the file turns out to be shorter. */
export function createFileContent(file: FileHandle, range: ByteRange): FileContent {
  let position = range.offset
  const end = range.offset + range.length
  let reading: Promise<void> = Promise.resolve()

  const readChunk = async (stream: Readable) => {
    if (position === end) {
      // Before the end is told: who sees the end may count on the file being closed.
      await file.close()
      stream.push(null)
      return
    }
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, end - position))
    const { bytesRead } = await namingFailure(file.read(buffer, 0, buffer.length, position))
    if (bytesRead === 0)
      throw new Error(`A file became shorter while it was read: ${position} of ${end} bytes`)
    position += bytesRead
    stream.push(buffer.subarray(0, bytesRead))
  }

  const content = new Readable({
    highWaterMark: chunkSize,
    read() {
      reading = readChunk(this).catch((error: unknown) => {
        this.destroy(error instanceof Error ? error : new Error(String(error)))
      })
    },
    destroy(error, callback) {
      // A descriptor closed under a read may be another file by the time the read happens.
      reading.then(() => file.close()).then(() => callback(error), callback)
    },
  })
  const close = async () => {
    content.destroy()
    await finished(content).catch(() => {})
  }
  const streamIterator = content[Symbol.asyncIterator].bind(content)
  const iterate = () => closedWhenStopped(streamIterator(), close)
  return {
    content: Object.defineProperty(content, Symbol.asyncIterator, { value: iterate }),
    close,
  }
}

/** A stream's own iterator does not wait for the file when it is stopped, nor does it stop before its first step. */
function closedWhenStopped(
  iterator: AsyncIterator<Uint8Array>,
  close: () => Promise<void>,
): AsyncIterableIterator<Uint8Array> {
  return {
    next: () => iterator.next(),
    return: async () => {
      await close()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
