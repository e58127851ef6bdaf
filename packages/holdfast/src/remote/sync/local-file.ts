import { createHash } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { HoldfastError, type RereadableBody } from '@holdfast/client'

/** The current state of a file. */
export interface FileVersion {
  readonly size: number
  /** Differs after each change, unless `isFresh`. */
  readonly version: string
  /** Whether it changed so recently that another change may not change `version`. */
  readonly isFresh: boolean
}

/** The content of a version. */
export interface ReadFile extends FileVersion {
  /** In hexadecimal. */
  readonly sha256: string
}

/** Some file systems store times in steps of two seconds. */
const longestClockStepMs = 2_500

/** Bytes per read; few enough to show progress on a slow connection. */
const chunkSize = 256 * 1024

/** A small file that grows beyond this is left to the next run. */
const mostInMemory = 4 * 1024 ** 2

/** `undefined` if the file does not exist any more. */
export async function versionOf(path: string): Promise<FileVersion | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? toVersion(stats) : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** An open file. All that is read of it is of one version, or the read fails with `changed-meanwhile`. */
export interface LocalFile {
  /** The content of a small file. */
  readWhole(): Promise<ReadFile & { readonly bytes: Uint8Array }>
  /** The digest of a content of any size. */
  readDigest(signal: AbortSignal): Promise<ReadFile>
  /** The content of this version, to upload it. */
  bodyOf(version: FileVersion): RereadableBody
}

/**
 * Opens the file at `path` below `root`, which is a real path.
 *
 * @throws an error for which {@link isMissing} holds, also if a symbolic link or something else has replaced the file, or a directory
 * above it
 */
export async function withLocalFile<T>(
  root: string,
  path: string,
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  const fullPath = join(root, path)
  // Without O_NONBLOCK, a pipe would block.
  const handle = await open(fullPath, constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    await requireFileAt(handle, fullPath)
    return await use(localFileOf(handle))
  } finally {
    await handle.close()
  }
}

/** Opening follows links in place of directories: only now it is certain which file was opened. */
async function requireFileAt(handle: FileHandle, fullPath: string): Promise<void> {
  const opened = await handle.stat({ bigint: true })
  const isReal = (await realpath(fullPath)) === fullPath
  const there = await lstat(fullPath, { bigint: true })
  if (isReal && opened.isFile() && opened.ino === there.ino && opened.dev === there.dev) return
  throw Object.assign(new Error(`The file was replaced: ${fullPath}`), { code: 'ENOENT' })
}

function localFileOf(handle: FileHandle): LocalFile {
  const statsNow = () => handle.stat({ bigint: true })
  const requireSame = async ({ version }: FileVersion) => {
    const now = toVersion(await statsNow())
    if (now.version !== version) throw changed()
    return now
  }
  /** Reads all of it; resolves with the version, with the size that was really read. */
  const readAll = async (take: (chunk: Buffer) => void) => {
    const stats = await statsNow()
    const before = toVersion(stats)
    let size = 0
    for await (const chunk of chunksOf(handle, 0, hasKnownSize(stats) ? before.size : undefined)) {
      size += chunk.length
      take(chunk)
    }
    return { ...(await requireSame(before)), size }
  }
  return {
    async readWhole() {
      const chunks: Buffer[] = []
      let size = 0
      const read = await readAll((chunk) => {
        size += chunk.length
        if (size > mostInMemory) throw changed()
        chunks.push(chunk)
      })
      const bytes = Buffer.concat(chunks)
      return { ...read, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
    },
    async readDigest(signal) {
      const hash = createHash('sha256')
      const read = await readAll((chunk) => {
        signal.throwIfAborted()
        hash.update(chunk)
      })
      return { ...read, sha256: hash.digest('hex') }
    },
    bodyOf: (version) => ({
      size: version.size,
      async *slice(start, end) {
        let sent = start
        for await (const chunk of chunksOf(handle, start, end)) {
          sent += chunk.length
          // With the last chunk the server stores the file, so check the version before.
          if (sent === end) await requireSame(version)
          yield chunk
        }
      },
    }),
  }
}

/** Without `end`, reads to the end of the file. */
async function* chunksOf(handle: FileHandle, start: number, end: number | undefined) {
  for (let at = start; end === undefined || at < end;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkSize, (end ?? Infinity) - at))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0 && end === undefined) return
    if (bytesRead === 0) throw changed()
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/**
 * Whether the size is right: files of `/proc` have a size of 0, those of `/sys` one of 4096, and no block of a disk, whatever they
 * contain.
 */
function hasKnownSize({ blocks }: BigIntStats): boolean {
  return blocks !== 0n
}

/** Ignores the inode, which some network file systems invent. */
export function toVersion({ size, mtimeNs, ctimeNs, ctimeMs }: BigIntStats): FileVersion {
  return {
    size: Number(size),
    version: `${size}-${mtimeNs}-${ctimeNs}`,
    isFresh: Number(ctimeMs) > Date.now() - longestClockStepMs,
  }
}

function changed(): HoldfastError {
  return new HoldfastError('changed-meanwhile', 'The file has changed meanwhile')
}

/** Whether the file does not exist any more: its name, or that of one of its directories, is free or belongs to something else. */
export function isMissing(error: unknown): boolean {
  const codes: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP']
  return error instanceof Error && 'code' in error && codes.includes(error.code)
}
