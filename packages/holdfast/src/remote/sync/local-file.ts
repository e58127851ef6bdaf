import { createHash } from 'node:crypto'
import { createReadStream, type BigIntStats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { HoldfastError } from '@holdfast/client'

/** A file as it is now. */
export interface FileVersion {
  readonly size: number
  /** Another one after each change, unless `isFresh`. */
  readonly version: string
  /** Whether it changed so lately that a further change may leave the version as it is. */
  readonly isFresh: boolean
}

/** The content of a version. */
export interface ReadFile extends FileVersion {
  /** In hexadecimal. */
  readonly sha256: string
}

/** Some file systems count time in steps of two seconds. */
const longestClockStepMs = 2_500

/** `undefined` if there is no such file any more. */
export async function versionOf(path: string): Promise<FileVersion | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? toVersion(stats) : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Reads a small file as a whole. */
export async function readWhole(path: string): Promise<ReadFile & { readonly bytes: Uint8Array }> {
  const file = await open(path)
  try {
    const before = toVersion(await file.stat({ bigint: true }))
    const bytes = await file.readFile()
    const after = toVersion(await file.stat({ bigint: true }))
    if (before.version !== after.version || bytes.length !== after.size) throw changed()
    return { ...after, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  } finally {
    await file.close()
  }
}

/** The digest of a file of any size. */
export async function readDigest(path: string, signal: AbortSignal): Promise<ReadFile> {
  const file = await open(path)
  try {
    const before = toVersion(await file.stat({ bigint: true }))
    const hash = createHash('sha256')
    const chunks = createReadStream(path, {
      fd: file,
      autoClose: false,
      signal,
      highWaterMark: 2 ** 18,
    })
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) hash.update(chunk)
    const after = toVersion(await file.stat({ bigint: true }))
    if (before.version !== after.version) throw changed()
    return { ...after, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

/** Without the inode, which some network file systems make up. */
function toVersion({ size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): FileVersion {
  return {
    size: Number(size),
    version: `${size}-${mtimeNs}-${ctimeNs}`,
    isFresh: Number(ctimeMs) > Date.now() - longestClockStepMs,
  }
}

function changed(): HoldfastError {
  return new HoldfastError('changed-meanwhile', 'The file changed while it was read')
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
