import { open, stat } from 'node:fs/promises'
import { HoldfastError } from '../errors/holdfast-error.ts'
import { reusing } from '../streams/reusing.ts'
import { bytesBody } from './content-of.ts'
import { blockingChunks, freshChunks, reusedChunks } from './file-chunks.ts'
import { readUnsized } from './read-unsized.ts'
import type { RereadableBody } from './upload-options.ts'

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
