import { open, type FileHandle } from 'node:fs/promises'
import { resolveRange, type OpenBlob, type OpenOptions } from '@holdfast/core'
import { blobInfo, readFlags } from '../files/blob-file.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'
import { createFileContent, type FileContent } from './file-content.ts'
import type { PageCacheHints } from './page-cache-hints.ts'
import { inMemory, readSyncLimit, type ReadSyncCached } from './read-sync-cached.ts'

/**
 * Opens the blob `name` whose file is at `path`; `undefined` if there is no regular file. A small file that is likely
 * in the page cache, by `hints`, is read synchronously.
 */
export async function readBlob(
  path: string,
  name: string,
  options: OpenOptions,
  hints: PageCacheHints,
  readCached: ReadSyncCached,
): Promise<OpenBlob | undefined> {
  return (
    hints.readSync(path, () => readCached(path, name, options)) ??
    openBlob(path, name, options, hints)
  )
}

async function openBlob(
  path: string,
  name: string,
  { range: request, reuseChunks }: OpenOptions,
  hints: PageCacheHints,
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
    const part = range ?? { offset: 0, length: 0 }
    if (info.size > readSyncLimit) {
      return { info, range, ...createFileContent(file, part, reuseChunks) }
    }
    const bytes = await readAll(createFileContent(file, part))
    hints.note(path)
    return { info, range, ...inMemory(bytes) }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readAll({ content }: FileContent): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, readFlags)
  } catch (error) {
    // ELOOP: a symbolic link (FreeBSD says EMLINK). ENXIO: a socket. EISDIR: a directory, on Windows.
    if (isAbsence(error) || isSystemError(error, 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR'))
      return undefined
    throw error
  }
}
