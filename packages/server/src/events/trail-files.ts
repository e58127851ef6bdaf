import type { FileHandle } from 'node:fs/promises'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { idOfLine, timeOfLine, type TrailLine } from './event-of.ts'

/** How far a file of the trail has been read. */
export interface FilePosition {
  /** The number of its inode, in decimal digits. */
  readonly inode: string
  /** The time of its first line; absent if it had none. */
  readonly began?: string
  /** The bytes that have been read: whole lines. */
  readonly offset: number
  /** The line that ends at `offset`, by which the file is recognised; absent if nothing has been read. */
  readonly last?: LineMark
  /** Whether the file had no further line at the last look. */
  readonly isRead: boolean
}

export interface LineMark {
  readonly id: string
  /** Its bytes, line break included. */
  readonly length: number
}

/** A line, and where the next one begins. */
export interface PlacedLine extends TrailLine {
  readonly length: number
}

/** A file of the trail that is open for reading. */
export interface TrailPart {
  position(): FilePosition
  /**
   * The next whole line; `undefined` if there is none now. `'changed'` if the file is shorter, or another one, than what was read.
   * `'began'` once when the file has its first line, which the next call returns; also when an empty file has a new time of modification,
   * since it may have had lines.
   */
  next(): Promise<PlacedLine | 'changed' | 'began' | undefined>
  /** Reads from the beginning again. */
  rewind(): void
  close(): Promise<void>
}

const lineFeed = 0x0a

/** How much is read at a time. A longer line is none of the trail's, and is skipped. */
const chunkSize = 64 * 1024

/** Opens the file at `path` to read on at `position`; without it, to read from the beginning. */
export async function openTrailPart(
  path: string,
  position?: Omit<FilePosition, 'inode'>,
): Promise<TrailPart> {
  const handle = await open(path, 'r')
  try {
    const { ino } = await handle.stat({ bigint: true })
    // Of a file that had no line, it must be noticed that it has got one.
    const began = position ? position.began : await timeOfFirstLine(handle)
    return createTrailPart(
      handle,
      { offset: 0, isRead: false, ...position, inode: `${ino}` },
      began,
    )
  } catch (error) {
    await handle.close()
    throw error
  }
}

function createTrailPart(
  handle: FileHandle,
  start: FilePosition,
  beginning: string | undefined,
): TrailPart {
  const { inode } = start
  let { offset, last, isRead } = start
  let began = beginning
  let lines: PlacedLine[] = []
  let consumed = 0
  let emptiedAt: bigint | undefined

  /** Whether the empty file was written, and emptied again, since the last look. */
  const isTouched = async () => {
    const { mtimeNs } = await handle.stat({ bigint: true })
    const isSame = mtimeNs === emptiedAt
    emptiedAt = mtimeNs
    return !isSame
  }

  /** Whether the file, which had a first line of the time `known`, has another one now, or none. */
  const isOther = async (known: string, time: string | undefined) =>
    time === undefined ? (await handle.stat()).size === 0 : time !== known

  const take = (line: PlacedLine) => {
    began ??= timeOfLine(line.text)
    offset += line.length
    last = { id: line.id, length: line.length }
    return line
  }

  return {
    position: () => ({
      inode,
      ...(began !== undefined && { began }),
      offset,
      ...(last && { last }),
      isRead,
    }),
    async next() {
      if (consumed === lines.length) {
        const read = await readLines(handle, offset, last)
        if (read === 'changed') return 'changed'
        const time = timeOfLine(read.find(({ text }) => text !== '')?.text ?? '')
        if (offset === 0 && began !== undefined && (await isOther(began, time))) return 'changed'
        if (began === undefined && time !== undefined) {
          began = time
          return 'began'
        }
        if (offset === 0 && read.length === 0 && (await isTouched())) return 'began'
        lines = read
        consumed = 0
        isRead = read.length === 0
      }
      const line = lines[consumed++]
      if (line !== undefined) return take(line)
      consumed = 0
      return undefined
    },
    rewind() {
      offset = 0
      last = undefined
      began = undefined
      isRead = false
      lines = []
      consumed = 0
    },
    close: () => handle.close().catch(() => {}),
  }
}

/** The whole lines from `offset` on, as many as one chunk has; `'changed'` if the line before them is not `last`. */
async function readLines(
  handle: FileHandle,
  offset: number,
  last: LineMark | undefined,
): Promise<PlacedLine[] | 'changed'> {
  const before = last?.length ?? 0
  const bytes = await readAt(handle, offset - before, before + chunkSize)
  if (last && !hasMark(bytes.subarray(0, before), offset - before, last)) return 'changed'
  if (last === undefined && bytes.length === 0 && (await handle.stat()).size < offset)
    return 'changed'
  const fresh = bytes.subarray(before)
  const lines = splitLines(fresh, offset)
  if (lines.length > 0 || fresh.length < chunkSize) return lines
  return [{ id: '', text: '', length: fresh.length }]
}

function splitLines(bytes: Buffer, offset: number): PlacedLine[] {
  const lines: PlacedLine[] = []
  let begin = 0
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, begin)) {
    const text = bytes.toString('utf8', begin, end)
    lines.push({ id: idOfLine(offset + begin, text), text, length: end + 1 - begin })
    begin = end + 1
  }
  return lines
}

function hasMark(bytes: Buffer, offset: number, mark: LineMark): boolean {
  // The mark of bytes that were skipped: there is nothing to compare.
  if (mark.id === '') return bytes.length === mark.length
  if (bytes.length !== mark.length || bytes.at(-1) !== lineFeed) return false
  return idOfLine(offset, bytes.toString('utf8', 0, bytes.length - 1)) === mark.id
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

async function timeOfFirstLine(handle: FileHandle): Promise<string | undefined> {
  // A file that was truncated after a line had been written in part begins with the end of that line.
  return timeOfLine((await readAt(handle, 0, 64)).toString('latin1').trimStart())
}

/** A file of the trail's directory that has lines of a trail. */
export interface FoundFile {
  readonly path: string
  readonly inode: string
  /** The time of its first line; empty for the trail's present file if it has none. */
  readonly began: string
}

/**
 * The files beside the trail at `path` that have its lines, itself included, by the time of their first lines: those that are called as
 * the trail and then `.` or `-` and anything, or with a number or a date before the extension: `audit.jsonl.1`, `audit-20261128.jsonl`.
 * Compressed files are not found.
 */
export async function findTrailFiles(path: string): Promise<readonly FoundFile[]> {
  const directory = dirname(path)
  const own = basename(path)
  const extension = extname(path)
  const stem = basename(path, extension)
  // Another server may have its trail in the same directory, under a name that begins in the same way.
  const isOfTrail = (name: string) => {
    if (name === own || name.startsWith(`${own}.`) || name.startsWith(`${own}-`)) return true
    if (!name.startsWith(stem) || !name.endsWith(extension)) return false
    return /^[.-]\d[\dT.:_-]*$/.test(name.slice(stem.length, name.length - extension.length))
  }
  const names = (await readdir(directory)).filter(isOfTrail)
  const found: FoundFile[] = []
  for (const name of names) {
    const file = await lookAt(join(directory, name)).catch(() => undefined)
    if (file && (file.began !== '' || name === own)) found.push(file)
  }
  return found.sort((a, b) => (a.began < b.began ? -1 : 1))
}

async function lookAt(path: string): Promise<FoundFile | undefined> {
  // Opening a pipe would wait for a writer.
  if (!(await stat(path)).isFile()) return undefined
  const handle = await open(path, 'r')
  try {
    const { ino } = await handle.stat({ bigint: true })
    const began = (await timeOfFirstLine(handle)) ?? ''
    return { path, inode: `${ino}`, began }
  } finally {
    await handle.close()
  }
}

/** The number of the inode of the file at `path`; `undefined` if there is no file. */
export async function inodeAt(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined)
  return stats && `${stats.ino}`
}

/**
 * Which of `files` is the one of `position`: the file with the line that was read last, also if it was moved or copied. If nothing of
 * it was read, the one with its inode or first line.
 */
export async function findByPosition(
  files: readonly FoundFile[],
  position: Omit<FilePosition, 'inode' | 'isRead'> & { readonly inode?: string },
): Promise<FoundFile | undefined> {
  const { inode, began, offset, last } = position
  const own = files.filter((file) => file.inode === inode)
  if (last === undefined) {
    const isSame = (file: FoundFile) => (began ?? file.began) === file.began
    const copies = offset === 0 && began !== undefined ? files : []
    return own.find(isSame) ?? copies.find(isSame)
  }
  for (const file of [...own, ...files]) {
    if (await hasLineAt(file.path, offset - last.length, last).catch(() => false)) return file
  }
  return undefined
}

async function hasLineAt(path: string, offset: number, mark: LineMark): Promise<boolean> {
  const handle = await open(path, 'r')
  try {
    return mark.id !== '' && hasMark(await readAt(handle, offset, mark.length), offset, mark)
  } finally {
    await handle.close()
  }
}

/** The position after the last whole line that the file at `path` has now; `undefined` if there is no file. */
export async function endOf(path: string): Promise<FilePosition | undefined> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const { ino, size } = await handle.stat({ bigint: true })
    const began = await timeOfFirstLine(handle)
    const start = Math.max(0, Number(size) - chunkSize)
    const tail = await readAt(handle, start, chunkSize)
    const lines = splitLines(tail, start)
    const length = lines.reduce((sum, line) => sum + line.length, 0)
    const line = lines.at(-1)
    // The first of several may lack its beginning; its id would be wrong, so it is not used alone.
    const isWhole = line !== undefined && (start === 0 || lines.length > 1)
    return {
      inode: `${ino}`,
      ...(began !== undefined && { began }),
      offset: start + length,
      ...(isWhole && { last: { id: line.id, length: line.length } }),
      isRead: true,
    }
  } finally {
    await handle.close()
  }
}
