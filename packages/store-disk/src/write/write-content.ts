import { requireBytes } from '@holdfast/core'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { createFileWriter, type FileWriter } from './file-writer.ts'

/**
 * Appends `content` to `file` in few large writes, whatever the size of its chunks. Small chunks are copied and not
 * kept: a chunk of one byte may keep a network buffer of 64 KiB alive. Each chunk goes to `release` once it is copied
 * or written. `onWriter` is called before the first chunk is asked for. When the promise settles, no call on the file is running
 * any more.
 */
export async function writeContent(
  file: number,
  content: AsyncIterable<Uint8Array>,
  calls: FileCalls,
  release: (chunk: Uint8Array) => void = () => {},
  onWriter: (writer: FileWriter) => void = () => {},
): Promise<void> {
  const writer = createFileWriter(file, calls)
  try {
    onWriter(writer)
    await writeChunks(writer, content, release)
    await writer.end()
  } finally {
    await writer.close()
  }
}

/** Hands `content` to `writer`. Each chunk goes to `release` once it is copied or written; the last bytes may still be in the writer. */
export async function writeChunks(
  writer: Pick<FileWriter, 'write'>,
  content: AsyncIterable<Uint8Array>,
  release: (chunk: Uint8Array) => void,
): Promise<void> {
  for await (const chunk of content) {
    requireBytes(chunk)
    const room = writer.write(chunk)
    if (room) await room
    release(chunk)
  }
  crashPoint('content-ended')
}
