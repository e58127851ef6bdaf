import { createAppendLines, nonBlocking, type WriteSome } from '../log/append-lines.ts'
import { formatOmission } from './format-event.ts'
import { closeSync, constants, write } from 'node:fs'
import { access, open, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SetupError } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file'

/** A file that lines are added to. Never rejects: what cannot be written is counted, and the count is written later. */
export interface TrailFile {
  /** Resolves when the system has taken the line, or when it could not be written. */
  write(line: string): Promise<void>
  /** Opens the file of that name anew; `false` if that was impossible. */
  reopen(): Promise<boolean>
  /** Writes what is due and closes. What comes later opens the file once more. */
  close(): Promise<void>
}

export interface TrailFileEvents {
  /** Lines could not be written, `lost` since the last that could; or the file could not be opened anew. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Lines are written again. */
  readonly onRecovery: (lost: number) => void
}

const defaultPatienceMs = 5_000

/**
 * Opens a {@link TrailFile}; rejects if that is impossible. A file that is moved or removed is noticed before the next
 * line, which goes into a new one. Where there can be no new one, lines go on into the one that was moved. The
 * reader of a pipe that is full may take nothing for `patienceMs`.
 */
export async function openTrailFile(
  path: string,
  { onFailure, onRecovery }: TrailFileEvents,
  open: (path: string) => Promise<Appendable> = openAppendable,
  patienceMs = defaultPatienceMs,
): Promise<TrailFile> {
  const appendLines = createAppendLines()
  let file: Appendable | undefined = await open(path)
  let isStale = false
  let isClosed = false
  let lost = 0

  const currentFile = async (): Promise<Appendable> => {
    if (file !== undefined && !isStale && !(await file.isMoved())) return file
    try {
      const fresh = await open(path)
      await file?.close()
      isStale = false
      return (file = fresh)
    } catch (error) {
      if (file === undefined || (await file.isGone())) throw error
      onFailure(error, lost)
      return file
    }
  }

  const append = async (lines: readonly string[]) => {
    const all = lost > 0 ? [formatOmission(new Date(), 'unwritable', lost), ...lines] : lines
    // A reader that has taken nothing for so long is not waited for again, since all answers would wait, too.
    const patience = { giveUpAfterMs: lost === 0 ? patienceMs : 0 }
    const { lines: whole, error } = await currentFile().then(
      ({ writeSome }) => appendLines(writeSome, Buffer.from(all.join('')), patience),
      (reason: unknown) => ({ lines: 0, error: reason }),
    )
    if (error === undefined) {
      if (lost > 0) onRecovery(lost)
      lost = 0
    } else {
      lost = whole === 0 ? lost + lines.length : all.length - whole
      isStale = true
      onFailure(error, lost)
    }
  }

  const write = gatherWrites<string>(async (lines) => {
    await append(lines.filter((line) => line !== ''))
    if (!isClosed) return
    await file?.close()
    file = undefined
  })

  return {
    write,
    async reopen() {
      isStale = true
      await write('')
      return !isStale
    },
    close() {
      isClosed = true
      return write('')
    },
  }
}

/**
 * `write` for many callers: only one call of it runs at a time, and takes all that came while the one before ran. What
 * it returns resolves when the item has been written; `write` must not reject.
 */
export function gatherWrites<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let last = Promise.resolve()
  let next: { readonly items: Item[]; readonly written: Promise<void> } | undefined
  const start = () => {
    const items: Item[] = []
    last = last.then(() => {
      next = undefined
      return write(items)
    })
    return { items, written: last }
  }
  return (item) => {
    next ??= start()
    next.items.push(item)
    return next.written
  }
}

/** Something that bytes can be written to the end of. */
interface Appendable {
  /** Whether a later `openAppendable` would open something else: the file was moved or removed. */
  isMoved(): Promise<boolean>
  /** Whether nothing leads to it any more, so that what is written is lost. */
  isGone(): Promise<boolean>
  /** Writes the first bytes, and on a pipe no more than a line; rejects with `EAGAIN` where a pipe is full. */
  readonly writeSome: WriteSome
  close(): Promise<void>
}

const lineFeed = 0x0a

const writeOnce = promisify(write)

/**
 * Opens the file `path` for appending, and makes it if it is missing, for its owner and group. Several processes may
 * append to one file: what one call of `writeSome` takes is in one piece. `-` and `/dev/stdout` are standard output, `/dev/stderr` is
 * standard error; there, and on pipes, each line is in one piece.
 */
export async function openAppendable(path: string): Promise<Appendable> {
  const descriptor = standardStreams[path]
  if (descriptor !== undefined) return onStandardStream(descriptor)
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
  // Opening a pipe without a reader would wait for one.
  const handle = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o640)
  const opened = await handle.stat()
  return {
    isMoved: async () => {
      const there = await stat(path).catch(() => undefined)
      return there?.dev !== opened.dev || there.ino !== opened.ino
    },
    isGone: async () => (await handle.stat()).nlink === 0,
    writeSome: opened.isFile() ? writeTo(handle.fd) : writeLineTo(handle.fd),
    close: () => closeQuietly(handle),
  }
}

/**
 * Their descriptors. Opening these anew would fail where they are sockets, and overwrite the log where they are files.
 */
const standardStreams: Readonly<Record<string, number>> = {
  '-': 1,
  '/dev/stdout': 1,
  '/dev/stderr': 2,
}

function onStandardStream(descriptor: number): Appendable {
  const fd = nonBlocking(descriptor)
  return {
    isMoved: async () => false,
    isGone: async () => false,
    writeSome: writeLineTo(fd),
    close: async () => {
      if (fd !== descriptor) closeSync(fd)
    },
  }
}

function writeTo(fd: number): WriteSome {
  return async (bytes) => (await writeOnce(fd, bytes)).bytesWritten
}

/** Other processes write into a pipe, too; a line in one piece stays whole. */
function writeLineTo(fd: number): WriteSome {
  const write = writeTo(fd)
  return (bytes) => write(bytes.subarray(0, bytes.indexOf(lineFeed) + 1 || bytes.length))
}

/** The bytes are written already; an error of `close` loses nothing. */
async function closeQuietly(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => {})
}

/**
 * Rejects as `openAppendable` would for `path`, but makes and changes nothing. Whether a pipe has a reader is not seen.
 */
export async function checkAppendable(path: string): Promise<void> {
  if (standardStreams[path] !== undefined) return
  const { W_OK, X_OK, O_WRONLY, O_APPEND, O_NONBLOCK } = constants
  const there = await stat(path).catch(() => undefined)
  if (there === undefined) return access(dirname(path), W_OK | X_OK)
  // To its reader, opening and closing a pipe would be the end of it.
  if (there.isFIFO()) return access(path, W_OK)
  const handle = await open(path, O_WRONLY | O_APPEND | O_NONBLOCK)
  await handle.close()
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'give that user write permission, or choose another --audit-log',
  EROFS: 'choose another --audit-log, since the file system is mounted read-only',
  ENOENT: 'make its directory first, or choose another --audit-log',
  EISDIR: 'name a file in that directory',
  ENXIO: 'start the reader of that pipe first, or choose another --audit-log if it is a socket',
}

/** Why the audit trail cannot be written to the file `path`, with the remedy. */
export function explainTrail(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const remedy = remedies[code] ?? 'choose another --audit-log'
  const reason = describeDenial(error) ?? `uid ${process.getuid?.() ?? '?'}: ${error.message}`
  return new SetupError(`The audit trail ${path} cannot be written (${reason})`, [`${remedy}.`])
}
