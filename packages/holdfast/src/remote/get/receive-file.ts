import { createHash, type Hash } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fdatasync,
  fstatSync,
  fsync,
  futimesSync,
  read,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { HoldfastError, type Download } from '@holdfast/client'
import { CommandError, exitCodes } from '../errors.ts'
import type { TransferDisplay } from '../screen.ts'
import {
  durableBytesOf,
  openPartial,
  pathOf,
  removePartial,
  syncStep,
  type PartialIdentity,
} from './partial-files.ts'

/** Where a downloaded file goes. */
export interface Placement {
  readonly identity: PartialIdentity
  /** Of the target's directory. */
  readonly sync: DirectorySync
  /** The time that the file gets. */
  readonly modified: string
  /** Whether the digest of the content is wanted. Default: no. */
  readonly isHashed?: boolean
  /**
   * Called with the open file when it is written and synced, before it gets its name. If it rejects, nothing is kept, and what has the name
   * stays.
   */
  readonly beforePlacing: (file: number) => Promise<void>
  /** Called with the open file as soon as it has its name. */
  readonly afterPlacing?: (file: number) => void
}

/** A file that is in place and safe. */
export interface PlacedFile {
  /** SHA-256 in hexadecimal, where it was wanted. */
  readonly sha256?: string
}

export interface FileReceiver {
  /**
   * Reads the body of a download to its end, or cancels it. Settles when the connection is free for the next one; `placed` settles when the
   * file is in place and synced, or has failed.
   */
  receive(
    download: Download,
    placement: Placement,
    display: TransferDisplay,
  ): Promise<{ readonly placed: Promise<PlacedFile> }>
}

/** Larger files are written while they arrive. */
const smallSize = 256 * 1024

/** What may wait in memory for the disk; a group keeps all its files open. With 256 files it took 14 MiB more, and was no faster. */
const mostWaiting = { bytes: 8 * 1024 ** 2, files: 64 }

/** Receives files: large ones one by one, small ones in groups, since to wait for the disk takes about as long for one as for many. */
export function createReceiver(): FileReceiver {
  const groups = createGroups()
  return {
    async receive(download, placement, display) {
      if (download.size > smallSize || download.start > 0) {
        try {
          const placed = await receiveLarge(download, placement, display)
          return { placed: Promise.resolve(placed) }
        } finally {
          // Does nothing to a body that has been read.
          await download.body.cancel().catch(() => {})
        }
      }
      const content = await download.bytes()
      display.end()
      await groups.hasRoom()
      return { placed: groups.place({ download, placement, content }) }
    },
  }
}

/** A small file whose content has arrived. */
interface SmallFile {
  readonly download: Download
  readonly placement: Placement
  readonly content: Uint8Array
}

interface WaitingFile extends SmallFile {
  readonly end: PromiseWithResolvers<PlacedFile>
}

/** Files that come while a group is written are the next group. */
function createGroups() {
  let waiting: WaitingFile[] = []
  let bytes = 0
  let running: Promise<void> | undefined
  let written: Promise<void> = Promise.resolve()
  const run = async () => {
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      bytes = 0
      await (written = placeGroup(group))
    }
    running = undefined
  }
  return {
    place(file: SmallFile): Promise<PlacedFile> {
      const end = Promise.withResolvers<PlacedFile>()
      waiting.push({ ...file, end })
      bytes += file.content.length
      running ??= Promise.resolve().then(run)
      return end.promise
    },
    async hasRoom(): Promise<void> {
      while (bytes > mostWaiting.bytes || waiting.length >= mostWaiting.files) await written
    },
  }
}

/**
 * Puts the files in place, each of which succeeds or fails on its own. Creates all before it syncs the first: a file system that syncs one
 * file holds up those who create others.
 */
async function placeGroup(group: readonly WaitingFile[]): Promise<void> {
  const begun = group.map((file) => ({ file, partial: attempt(() => writeSmall(file)) }))
  const syncs = new Set<DirectorySync>()
  const placed = await Promise.allSettled(
    begun.map(async ({ file, partial }) => {
      const { path, file: fd } = partial()
      await placeSmall(fd, path, file)
      syncs.add(file.placement.sync)
    }),
  )
  const synced = await Promise.allSettled([...syncs].map((sync) => sync()))
  const failure = synced.find((each) => each.status === 'rejected')
  for (const [at, { end, placement, content }] of group.entries()) {
    const own = placed[at]
    if (own?.status === 'rejected') end.reject(own.reason)
    else if (failure) end.reject(failure.reason)
    else end.resolve(placement.isHashed ? { sha256: digestOf(content) } : {})
  }
}

/** Runs `work` now. The returned function returns its result, or throws its error. */
function attempt<T>(work: () => T): () => T {
  try {
    const result = work()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function writeSmall({ download, placement, content }: SmallFile) {
  const { size, etag } = download
  if (content.length !== size) throw wrongSize(size, content.length)
  const partial = openPartial(placement.identity, etag)
  try {
    for (let at = 0; at < size;) at += writeSync(partial.file, content, at, size - at, at)
    const written = fstatSync(partial.file).size
    if (written !== size) throw wrongSize(size, written)
    setTime(partial.file, placement.modified)
  } catch (error) {
    // Nothing of it is worth keeping.
    if (isAt(partial.file, partial.path)) rmSync(partial.path, { force: true })
    closeSync(partial.file)
    throw error
  }
  return partial
}

async function placeSmall(fd: number, path: string, { placement }: SmallFile): Promise<void> {
  let isWhole = false
  try {
    await syncFile(fd)
    await placement.beforePlacing(fd)
    putInPlace(fd, path, pathOf(placement.identity.target))
    isWhole = true
    placement.afterPlacing?.(fd)
  } finally {
    // Another command may have begun its file there.
    const isLeft = !isWhole && isAt(fd, path)
    closeSync(fd)
    if (isLeft) await removePartial(path)
  }
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function wrongSize(size: number, written: number): CommandError {
  return new CommandError(
    exitCodes.retry,
    `The file has ${size} bytes on the server, but ${written} were written here.`,
  )
}

/** The time is a convenience: a server or a file system that has none does not stop a download. */
function setTime(file: number, modified: string): void {
  const seconds = Date.parse(modified) / 1000
  if (Number.isNaN(seconds)) return
  try {
    futimesSync(file, Date.now() / 1000, seconds)
  } catch {
    // The file keeps the time of the download.
  }
}

async function receiveLarge(
  download: Download,
  { identity, sync, modified, isHashed = false, beforePlacing, afterPlacing }: Placement,
  display: TransferDisplay,
): Promise<PlacedFile> {
  const { size, start, etag, body } = download
  const { file, path, isLasting } = openPartial(identity, etag)
  display.update(start)
  let isWhole = false
  let isRefused = false
  try {
    const hash = isHashed ? createHash('sha256') : undefined
    if (hash) await hashBeginning(hash, file, start)
    const target = pathOf(identity.target)
    // Another command for the same version may be faster. From then on the file is the user's.
    const isPlaced = () => isAt(file, target)
    const content = hashing(body, hash)
    const { end, isOver } = await writeFrom(file, start, content, display.update, isPlaced)
    const written = isOver ? end : fstatSync(file).size
    if (end !== size || written !== size) throw wrongSize(size, written)
    if (isOver) {
      isWhole = true
      await sync()
      return hash ? { sha256: hash.digest('hex') } : {}
    }
    setTime(file, modified)
    await syncFile(file)
    display.end()
    isRefused = true
    await beforePlacing(file)
    isRefused = false
    putInPlace(file, path, pathOf(identity.target))
    isWhole = true
    afterPlacing?.(file)
    await sync()
    return hash ? { sha256: hash.digest('hex') } : {}
  } finally {
    display.end()
    const isOwn = isAt(file, path)
    closeSync(file)
    const written = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    const isWorthKeeping = isLasting && !isRefused && durableBytesOf(written) > 0
    if (!isWhole && isOwn && !isWorthKeeping) await removePartial(path)
  }
}

async function* hashing(body: AsyncIterable<Uint8Array>, hash: Hash | undefined) {
  for await (const chunk of body) {
    hash?.update(chunk)
    yield chunk
  }
}

/** Hashes what an earlier command has written. */
async function hashBeginning(hash: Hash, file: number, end: number): Promise<void> {
  const buffer = Buffer.allocUnsafe(smallSize)
  for (let at = 0; at < end;) {
    const { bytesRead } = await readFrom(file, buffer, 0, Math.min(smallSize, end - at), at)
    if (bytesRead === 0) throw wrongSize(end, at)
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
}

/**
 * Calls of the file system that do not wait for the disk are synchronous: a small file takes some ten of them, and to use a thread for
 * each takes longer than the file itself.
 */
const syncData = promisify(fdatasync)
const syncFile = promisify(fsync)
const writeByThread = promisify(write)
const readFrom = promisify(read)

/** Bytes. A larger write may wait until the system has written earlier ones, so a thread makes it. */
const largestBlockingWrite = 64 * 1024

/** Bytes between two looks whether another command has ended the file. */
const lookStep = 1024 ** 2

/** Writes `body` into `file` from `start` on, until `isOver`, and syncs it as it grows; reads it to its end. Never holds more than a chunk. */
async function writeFrom(
  file: number,
  start: number,
  body: AsyncIterable<Uint8Array>,
  onProgress: (end: number) => void,
  isOver: () => boolean,
): Promise<{ readonly end: number; readonly isOver: boolean }> {
  let position = start
  let lookAt = start
  let hasEnded = false
  let synced: Promise<void> = Promise.resolve()
  try {
    for await (const chunk of body) {
      if (position >= lookAt) {
        hasEnded ||= isOver()
        lookAt = position + lookStep
      }
      if (hasEnded) {
        position += chunk.length
        continue
      }
      for (let taken = 0; taken < chunk.length;) {
        const toBorder = syncStep - (position % syncStep)
        const part = chunk.subarray(taken, taken + toBorder)
        const written =
          part.length <= largestBlockingWrite
            ? writeSync(file, part, 0, part.length, position)
            : (await writeByThread(file, part, 0, part.length, position)).bytesWritten
        taken += written
        position += written
        if (position % syncStep > 0) continue
        await synced
        synced = syncData(file)
        // The next sync awaits it, or the end does.
        synced.catch(() => {})
      }
      onProgress(position)
    }
  } finally {
    // The caller closes the descriptor next. A sync that still waits for a thread could then sync another file.
    await synced.catch(() => {})
  }
  await synced
  return { end: position, isOver: hasEnded }
}

/**
 * Renames the open `file` at `from` to `path`. It gets the mode of the file that it replaces.
 *
 * @throws HoldfastError, `changed-meanwhile`, if it is at neither: what is at `from` is the beginning of another command's file
 */
export function putInPlace(file: number, from: string, path: string): void {
  if (!isAt(file, from)) {
    // Another command for the same file was faster.
    if (isAt(file, path)) return
    throw changedMeanwhile()
  }
  takeMode(file, path)
  try {
    renameSync(from, path)
  } catch (error) {
    if (!isAt(file, path)) throw error
  }
}

function changedMeanwhile(): HoldfastError {
  return new HoldfastError('changed-meanwhile', 'The file here has changed meanwhile, and stays')
}

/** Gives the open `file` the mode of the file at `path`, if there is one. */
function takeMode(file: number, path: string): void {
  const replaced = statSync(path, { throwIfNoEntry: false })
  if (!replaced?.isFile()) return
  try {
    fchmodSync(file, replaced.mode & 0o777)
  } catch {
    // Some file systems have one mode for all files.
  }
}

function isAt(file: number, path: string): boolean {
  const own = fstatSync(file, { bigint: true })
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (found === undefined) return false
  if (own.ino === found.ino && own.dev === found.dev) return true
  // Some network file systems invent inodes.
  const { size, mtimeNs, ctimeNs } = found
  return own.size === size && own.mtimeNs === mtimeNs && own.ctimeNs === ctimeNs
}

/** Resolves when all changes to a directory before the call survive a power cut. */
export type DirectorySync = () => Promise<void>

/**
 * Syncs `directory`. Calls during a sync share the next one.
 *
 * After a failure all later syncs fail: the system reports only once that it has dropped changes, those of others included.
 */
export function createDirectorySync(
  directory: string,
  sync: (path: string) => Promise<void> = syncNow,
): DirectorySync {
  let last = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= last = last.then(() => {
      next = undefined
      return sync(directory)
    })
    return next
  }
}

async function syncNow(path: string): Promise<void> {
  // Windows syncs no directories.
  if (process.platform === 'win32') return
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Makes `path` and what is missing above it, so that they survive a power cut. */
export async function makeDirectories(
  path: string,
  sync: (path: string) => Promise<void> = syncNow,
): Promise<void> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return
  const last = dirname(resolve(first))
  let parent = resolve(path)
  do {
    parent = dirname(parent)
    await sync(parent)
  } while (parent.length > last.length)
}
