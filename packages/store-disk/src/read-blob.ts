import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { resolveRange, type OpenBlob, type OpenOptions } from '@holdfast/core'
import { blobInfo } from './blob-info.ts'
import { createFileContent } from './file-content.ts'
import { isAbsence, isSystemError } from './system-error.ts'

// Symbolic links are not followed, and without O_NONBLOCK opening a named pipe would wait for a writer for ever.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0)

/** Opens the blob called `name` whose file is at `path`; `undefined` where there is no regular file. */
export async function readBlob(
  path: string,
  name: string,
  { range: request }: OpenOptions,
): Promise<OpenBlob | undefined> {
  const file = await openIfThere(path)
  if (!file) return undefined
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) {
      await file.close()
      return undefined
    }
    const info = blobInfo(name, stats)
    const range = resolveRange(request, info.size)
    return { info, range, ...createFileContent(file, range ?? { offset: 0, length: 0 }) }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags)
  } catch (error) {
    // ELOOP: a symbolic link (FreeBSD says EMLINK). ENXIO: a socket. EISDIR: a directory, on Windows.
    if (isAbsence(error) || isSystemError(error, 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR'))
      return undefined
    throw error
  }
}
