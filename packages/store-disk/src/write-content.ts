import type { FileHandle } from 'node:fs/promises'
import { namingFailure } from './naming-failure.ts'
import { step } from './step.ts'

/** The first buffer: all that most files need. */
const smallBuffer = 64 * 1024

/** Every further one: a write call costs about as much as copying this much. */
const largeBuffer = 512 * 1024

/**
 * Writes `content` to the end of `file` in few large writes, whatever the size of its chunks. Small chunks are copied
 * and not kept: a chunk of one byte may hold on to a network buffer of 64 KiB. What is copied or written goes to
 * `release`.
 */
export async function writeContent(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  release: (chunk: Uint8Array) => void = () => {},
): Promise<void> {
  let buffer = Buffer.allocUnsafeSlow(smallBuffer)
  let used = 0
  const flush = async () => {
    await writeAll(file, buffer.subarray(0, used))
    used = 0
  }
  for await (const chunk of content) {
    if (used + chunk.length > buffer.length) {
      await flush()
      if (buffer.length === smallBuffer) buffer = Buffer.allocUnsafeSlow(largeBuffer)
    }
    if (chunk.length >= buffer.length) {
      await writeAll(file, chunk)
    } else {
      buffer.set(chunk, used)
      used += chunk.length
    }
    release(chunk)
  }
  step('content-ended')
  await flush()
}

/** The system may write less than it was given, when the disk is nearly full or a limit is near. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  let rest = bytes
  while (rest.length > 0) {
    const { bytesWritten } = await namingFailure(file.write(rest))
    rest = rest.subarray(bytesWritten)
    step('content-written')
  }
}
