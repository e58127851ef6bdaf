import { type Dirent, constants, type BigIntStats } from 'node:fs'
import { lstat, opendir, realpath, open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { nameFromPath, prefixFromPath, HoldfastError, type RereadableBody } from '@holdfast/client'
import { compareUtf8, sortUtf8 } from '@holdfast/core'
import { isPartial } from './get/partial-files.ts'

/** An entry of a directory, with its name on the server. */
export interface FoundEntry {
  readonly name: string
  /** The path relative to the directory, with slashes. */
  readonly path: string
  /** Links and special files are never sent. */
  readonly kind: 'file' | 'symbolic link' | 'special file'
}

export interface WalkOptions {
  /** The folder that the names on the server begin with; '' for none. */
  readonly into: string
  readonly signal: AbortSignal
  /** Whether a path is passed over; of a directory, with all that is in it. Default: none is. */
  readonly isExcluded?: (path: string, kind: 'file' | 'directory') => boolean
  /** Called for each directory and each name that cannot be read; the walk continues. */
  readonly onUnread: (path: string, error: Error) => void
}

/** A directory that is being read. */
interface OpenDirectory {
  readonly path: string
  /**
   * The remaining entries, the first one last. There may be millions of entries, so each is one string: its sort key, NUL, the letter of
   * its kind, its name. No name on the server that comes from the entry sorts before the key.
   */
  readonly entries: string[]
}

const kinds = { d: 'directory', f: 'file', l: 'symbolic link', s: 'special file' } as const
type KindLetter = keyof typeof kinds

/**
 * Yields what is below a directory, without downloads that have not ended, in ascending order of the UTF-8 bytes of the names on the server. Holds in memory only the names of
 * the directories that it is in. Never follows a link.
 *
 * @throws the signal's reason
 */
export async function* walkDirectory(
  directory: string,
  options: WalkOptions,
): AsyncGenerator<FoundEntry, void> {
  const root = await realpath(directory).catch(() => directory)
  // Names of other entries may come between the names of a directory: "a - b" is after "a - a" and before "a - c".
  let open = [await readEntries(root, '', options)]
  while (true) {
    options.signal.throwIfAborted()
    open = open.filter(({ entries }) => entries.length > 0)
    const [first, ...others] = open
    if (first === undefined) return
    const next = others.reduce((a, b) => (isBefore(b, a) ? b : a), first)
    const { order, kind, path } = parse(next.entries.pop() ?? '', next.path)
    if (kind === 'directory') open.push(await readEntries(root, path, options))
    else yield { name: order, path, kind }
  }
}

function isBefore({ entries: a }: OpenDirectory, { entries: b }: OpenDirectory): boolean {
  return compareUtf8(a.at(-1) ?? '', b.at(-1) ?? '') < 0
}

function parse(entry: string, directory: string) {
  const end = entry.indexOf('\0')
  const name = entry.slice(end + 2)
  return {
    order: entry.slice(0, end),
    kind: kinds[entry.charAt(end + 1) as KindLetter],
    path: pathIn(directory, name),
  }
}

const pathIn = (directory: string, name: string) =>
  directory === '' ? name : `${directory}/${name}`

async function readEntries(
  root: string,
  path: string,
  { into, onUnread, isExcluded = () => false }: WalkOptions,
): Promise<OpenDirectory> {
  const entries: string[] = []
  const fullPath = join(root, path)
  try {
    for await (const entry of await opendir(fullPath, { bufferSize: 1024 })) {
      const below = pathIn(path, entry.name)
      if (entry.name.includes('\ufffd') && !(await isThere(join(fullPath, entry.name)))) {
        onUnread(below, new Error('Its name is not UTF-8'))
        continue
      }
      const kind = kindOf(entry)
      if (isPartial(entry.name) || isExcluded(below, kind === 'd' ? 'directory' : 'file')) continue
      const order = (kind === 'd' ? prefixFromPath : nameFromPath)(pathIn(into, below))
      entries.push(`${order}\0${kind}${entry.name}`)
    }
    // It may have been replaced since its entry was read.
    if ((await realpath(fullPath)) !== fullPath) throw new Error('It is now a symbolic link')
  } catch (error) {
    if (!(error instanceof Error)) throw error
    onUnread(path === '' ? root : path, error)
    return { path, entries: [] }
  }
  return { path, entries: sortUtf8(entries).reverse() }
}

/** Whether `path` exists. Bytes that are not UTF-8 were read as replacement characters, so such a path does not. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function kindOf(entry: Dirent): KindLetter {
  if (entry.isFile()) return 'f'
  if (entry.isDirectory()) return 'd'
  return entry.isSymbolicLink() ? 'l' : 's'
}

/** An entry of a directory, with the current state of its file. */
export interface FoundFile extends FoundEntry {
  /** Left out if it is no file any more. */
  readonly now?: FileVersion
  /** Why the state cannot be found out. */
  readonly error?: unknown
}

const inspectedAtOnce = 64

/** Inspects the files, several at a time, in their order. */
export async function* inspectFiles(
  directory: string,
  entries: AsyncIterable<FoundEntry>,
): AsyncGenerator<FoundFile, void> {
  let waiting: Promise<FoundFile>[] = []
  for await (const entry of entries) {
    waiting.push(inspectEntry(directory, entry))
    if (waiting.length < inspectedAtOnce) continue
    yield* await Promise.all(waiting)
    waiting = []
  }
  yield* await Promise.all(waiting)
}

async function inspectEntry(directory: string, entry: FoundEntry): Promise<FoundFile> {
  if (entry.kind !== 'file') return entry
  try {
    const now = await versionOf(join(directory, entry.path))
    return now ? { ...entry, now } : entry
  } catch (error) {
    return { ...entry, error }
  }
}

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
 * Whether `size` is certainly the size of the content. Files of `/proc` and `/sys` have no blocks on a disk, and a size of 0 or 4096
 * whatever they contain.
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
