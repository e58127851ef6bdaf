import { open, type FileHandle } from 'node:fs/promises'
import { resolveRange, type OpenBlob, type OpenOptions } from '@holdfast/core'
import { blobInfo } from '../files/blob-info.ts'
import { createFileContent, type FileContent } from './file-content.ts'
import { readFlags } from '../files/read-flags.ts'
import { inMemory, readNowLimit, type ReadNow } from './read-now.ts'
import { isAbsence, isSystemError } from '../files/system-error.ts'
import type { WarmFiles } from './warm-files.ts'

/**
 * Opens the blob called `name` whose file is at `path`; `undefined` where there is no regular file. Small files that are
 * among `warm` are read at once.
 */
export async function readBlob(
  path: string,
  name: string,
  options: OpenOptions,
  warm: WarmFiles,
  readNow: ReadNow,
): Promise<OpenBlob | undefined> {
  return (
    warm.readNow(path, () => readNow(path, name, options)) ?? openBlob(path, name, options, warm)
  )
}

async function openBlob(
  path: string,
  name: string,
  { range: request, reuseChunks }: OpenOptions,
  warm: WarmFiles,
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
    if (info.size > readNowLimit) {
      return { info, range, ...createFileContent(file, part, reuseChunks) }
    }
    const bytes = await readAll(createFileContent(file, part))
    warm.note(path)
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
