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
    const { size, mtimeNs } = await versionOf(path)
    if (size === opened.size && mtimeNs === opened.mtimeNs) return
    throw new HoldfastError('changed-meanwhile', `The file has changed meanwhile: ${path}`)
  }
  return {
    size: Number(opened.size),
    async *slice(start, end) {
      await requireSame()
      if (start < end)
        yield* createReadStream(path, { start, end: end - 1, highWaterMark: chunkSize })
      await requireSame()
    },
  }
}

async function versionOf(path: string) {
  const { size, mtimeNs } = await stat(path, { bigint: true })
  return { size, mtimeNs }
}
