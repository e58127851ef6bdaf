import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { timeOfLine, type TrailLine } from './event-of.ts'
import {
  endOf,
  findByPosition,
  findTrailFiles,
  inodeAt,
  openTrailPart,
  type FilePosition,
  type TrailPart,
} from './trail-files.ts'

/** How far a trail has been read. */
export interface TrailPosition {
  /** The files that may still get lines, in the order of the trail; the last one is the trail's present file. */
  readonly files: readonly FilePosition[]
  /** The time of the last line that was read, or that of the first position. ISO 8601. */
  readonly since: string
}

/** Reads the lines of a trail in their order, also those of files that were moved away meanwhile. */
export interface TrailReader {
  /** The next line; `undefined` if there is none now. */
  next(): Promise<TrailLine | undefined>
  /** Looks whether the trail has a new file, so that none is missed. Call it about once a second while `next` is not called. */
  watch(): Promise<void>
  /** The position after the last line that `next` returned. */
  position(): TrailPosition
  close(): Promise<void>
}

export interface TrailReaderOptions {
  /** Called when lines were removed or overwritten before they were read. `since`: all were written after that. */
  readonly onLost: (since: string) => void
  /**
   * How long a file that was moved away must stay without a new line before the next file is read, in milliseconds: a line may be under
   * way. Default: one second.
   */
  readonly graceMs?: number
  /** How long such a file is looked at afterwards, in milliseconds; its late lines come out of order. Default: one minute. */
  readonly lateMs?: number
}

/** How many files are kept open. There are more only if the trail is rotated often and none of it can be read. */
const mostFiles = 100

/** How much earlier than the line before it a line may say it was written, in milliseconds. */
const disorderMs = 1_000

/** An open file of the trail. */
interface OpenPart {
  readonly part: TrailPart
  /** When it was moved away, or got its last line since, by `performance.now()`. */
  quietSince: number
}

/** The position at the present end of the trail at `path`, which need not exist. */
export async function positionAtEnd(path: string): Promise<TrailPosition> {
  const since = new Date().toISOString()
  const file = await endOf(path)
  return { files: file ? [file] : [], since }
}

/**
 * Opens the trail at `path` to read on at `position`. The files that were moved away must still be in its directory, and must not be
 * compressed. Where they are not, `onLost` is called and reading continues with what is there.
 */
export async function openTrailReader(
  path: string,
  position: TrailPosition,
  { onLost, graceMs = 1_000, lateMs = 60_000 }: TrailReaderOptions,
): Promise<TrailReader> {
  const parts: OpenPart[] = []
  let { since } = position
  let isFull = false
  let directoryChangedAt: bigint | undefined

  const insert = (part: TrailPart, index = parts.length) => {
    // The last one so far may still get a line that is under way.
    const moved = parts.at(-1)
    if (moved && index === parts.length) moved.quietSince = performance.now()
    parts.splice(index, 0, { part, quietSince: performance.now() })
  }

  const add = async (file: string, at?: Omit<FilePosition, 'inode'>, index?: number) =>
    insert(await openTrailPart(file, at), index)

  /** Opens the file unless it has lost its name by now: it was moved meanwhile, and the next look finds it in its order. */
  const addIfSame = async (file: string, inode: string): Promise<boolean> => {
    const part = await openTrailPart(file).catch(async (error: unknown) => {
      if ((await inodeAt(file)) === inode) throw error
      return undefined
    })
    const isSame = part?.position().inode === inode
    if (part && isSame) insert(part)
    else await part?.close()
    return isSame
  }

  const reopen = async () => {
    const files = await findTrailFiles(path).catch(() => [])
    let isLost = false
    for (const [index, at] of position.files.entries()) {
      const found = await findByPosition(files, at)
      if (found) await add(found.path, at)
      else isLost ||= !at.isRead || index === position.files.length - 1
    }
    if (isLost) onLost(since)
  }

  /** A time before every line that is still to be read: lines of several workers are only roughly in order. */
  const earliest = () => {
    const time = Date.parse(since)
    return Number.isNaN(time) ? '' : new Date(time - disorderMs).toISOString()
  }

  const inodes = () => new Set(parts.map(({ part }) => part.position().inode))

  /** The files that are not open, and began after that time. */
  const unknownAfter = async (time: string) => {
    const known = inodes()
    const files = await findTrailFiles(path)
    return files.filter(({ inode, began }) => !known.has(inode) && began > time)
  }

  /** Whether files may have come or gone since the last call. */
  const isDirectoryChanged = async () => {
    const { mtimeNs } = await stat(dirname(path), { bigint: true })
    const isSame = mtimeNs === directoryChangedAt
    directoryChangedAt = mtimeNs
    return !isSame
  }

  /** Opens the files that have come since the last one. */
  const watch = async () => {
    const present = await inodeAt(path)
    const newest = parts.at(-1)?.part.position()
    if (present === undefined ? !(await isDirectoryChanged()) : inodes().has(present)) return
    if (parts.length >= mostFiles) {
      isFull = true
      return
    }
    if (isFull) onLost(since)
    isFull = false
    const others = await unknownAfter(newest?.began ?? earliest())
    for (const { path: file, inode } of others) {
      if (file !== path && !(await addIfSame(file, inode))) return
    }
    if (present !== undefined) await addIfSame(path, present)
  }

  /** Reads on in a file that was overwritten: at first the rest of its copy, if there is one. */
  const recover = async (index: number, { part }: OpenPart) => {
    const at = part.position()
    const copy = await findByPosition(await findTrailFiles(path), { ...at, inode: '' })
    // The file may have been copied and overwritten several times.
    const others = await unknownAfter(at.began ?? earliest())
    part.rewind()
    if (copy === undefined) onLost(since)
    else await add(copy.path, at, index++)
    for (const other of others) await add(other.path, undefined, index++)
  }

  /** Opens the copies of a file that was overwritten before its first line was seen, or that is empty again. */
  const insertEarlier = async (index: number, { part }: OpenPart) => {
    const { began = '' } = part.position()
    const before = parts[index - 1]?.part.position().began ?? earliest()
    for (const other of await unknownAfter(before)) {
      if (began === '' || other.began < began) await add(other.path, undefined, index++)
    }
  }

  const dropQuiet = async () => {
    const now = performance.now()
    while (parts.length > 1 && now - (parts[0]?.quietSince ?? now) > lateMs) {
      await parts.shift()?.part.close()
    }
  }

  const nextOfParts = async (): Promise<TrailLine | 'wait' | undefined> => {
    for (let index = 0; index < parts.length; index++) {
      const open = parts[index]
      if (open === undefined) continue
      const line = await open.part.next()
      if (line === 'changed' || line === 'began') {
        await (line === 'changed' ? recover(index, open) : insertEarlier(index, open))
        index--
        continue
      }
      if (line !== undefined) {
        open.quietSince = performance.now()
        since = timeOfLine(line.text) ?? since
        return line
      }
      const isMoved = index < parts.length - 1
      if (isMoved && performance.now() - open.quietSince < graceMs) return 'wait'
    }
    return undefined
  }

  await reopen()
  return {
    async next() {
      const line = await nextOfParts()
      if (line === 'wait') return undefined
      if (line !== undefined) return line
      await dropQuiet()
      await watch()
      return undefined
    },
    watch,
    position: () => ({ files: parts.map(({ part }) => part.position()), since }),
    async close() {
      for (const { part } of parts.splice(0)) await part.close()
    },
  }
}
