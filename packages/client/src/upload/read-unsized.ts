import { open, type FileHandle } from 'node:fs/promises'

/** So much of a stream an upload holds in memory, too. */
const mostInMemory = 8 * 1024 ** 2

/**
 * The content of a file if it is not as long as `size`, which the file system gives. Files of `/proc` have a size of 0, those of `/sys`
 * one of 4096, and some file systems over the network do not know the size before they have fetched the file. `undefined` if `size` is
 * right.
 *
 * @throws RangeError if the content is not as long as `size`, and longer than 8 MiB
 */
export async function readUnsized(path: string, size: number): Promise<Uint8Array | undefined> {
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
