import { createHash } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { HoldfastError, type RereadableBody } from '@holdfast/client'

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

/** So much is read at a time; small enough that a slow line shows progress. */
const chunkSize = 256 * 1024

/** A small file that has grown beyond it is left to the next run. */
const mostInMemory = 4 * 1024 ** 2

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

/** A file that is open. All that is read of it is of one version, or fails with `changed-meanwhile`. */
export interface LocalFile {
  /** Its content, which is small. */
  readWhole(): Promise<ReadFile & { readonly bytes: Uint8Array }>
  /** The digest of a content of any size. */
  readDigest(signal: AbortSignal): Promise<ReadFile>
  /** The content of this version, to upload it. */
  bodyOf(version: FileVersion): RereadableBody
}

/**
 * Opens the file at `path` below `root`, which is a real path.
 *
 * @throws an error for which {@link isMissing} holds, also where a symbolic link or something else has taken the place of the file, or of a
 *   directory that it was in
 */
export async function withLocalFile<T>(
  root: string,
  path: string,
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  const place = join(root, path)
  // A pipe would be waited for.
  const handle = await open(place, constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    await requirePlace(handle, place)
    return await use(localFileOf(handle))
  } finally {
    await handle.close()
  }
}

/** Opening follows links in the place of directories: only now it is certain what was opened. */
async function requirePlace(handle: FileHandle, place: string): Promise<void> {
  const opened = await handle.stat({ bigint: true })
  const isReal = (await realpath(place)) === place
  const there = await lstat(place, { bigint: true })
  if (isReal && opened.isFile() && opened.ino === there.ino && opened.dev === there.dev) return
  throw Object.assign(new Error(`There is another file by now: ${place}`), { code: 'ENOENT' })
}

function localFileOf(handle: FileHandle): LocalFile {
  const statsNow = () => handle.stat({ bigint: true })
  const requireSame = async ({ version }: FileVersion) => {
    const now = toVersion(await statsNow())
    if (now.version !== version) throw changed()
    return now
  }
  /** All of it, and then the version, with the size that it has been found to have. */
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
          // With the last chunk the server has all of it, and stores it.
          if (sent === end) await requireSame(version)
          yield chunk
        }
      },
    }),
  }
}

/** Without an `end`, up to that of the file. */
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

/** Files of `/proc` have a size of 0, those of `/sys` one of 4096, whatever they contain, and no block of a disk. */
function hasKnownSize({ blocks }: BigIntStats): boolean {
  return blocks !== 0n
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
  return new HoldfastError('changed-meanwhile', 'The file has changed meanwhile')
}

/** Whether there is no such file any more: its name is free, or another thing has it, or one of its directories' names. */
export function isMissing(error: unknown): boolean {
  const codes: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP']
  return error instanceof Error && 'code' in error && codes.includes(error.code)
}
