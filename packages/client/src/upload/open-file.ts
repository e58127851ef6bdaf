import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { HoldfastError } from '../errors/holdfast-error.ts'
import type { RereadableBody } from './upload-options.ts'

/** So much is read at a time; small enough that a slow line shows progress. */
const chunkSize = 256 * 1024

/**
 * A file of this machine as what can be uploaded; of any size, it takes no memory. Fails with `changed-meanwhile` where it is not the
 * file any more that was opened, so that no mixture of two is stored. Not in browsers.
 *
 * @throws what `node:fs` throws
 */
export async function openFile(path: string): Promise<RereadableBody> {
  const opened = await versionOf(path)
  const requireSame = async () => {
    if ((await versionOf(path)).version === opened.version) return
    throw new HoldfastError('changed-meanwhile', `The file has changed meanwhile: ${path}`)
  }
  return {
    size: opened.size,
    async *slice(start, end) {
      let last: Uint8Array | undefined
      const options = { start, end: end - 1, highWaterMark: chunkSize }
      const chunks = start < end ? createReadStream(path, options) : []
      for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
        if (last) yield last
        last = chunk
      }
      // With the last chunk the server has all of it, and stores it.
      await requireSame()
      if (last) yield last
    },
  }
}

async function versionOf(path: string) {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true })
  return { size: Number(size), version: [dev, ino, size, mtimeNs].join() }
}
