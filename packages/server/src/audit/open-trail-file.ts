import { closeSync, constants, write } from 'node:fs'
import { access, open, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SetupError } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file'
import type { AuditEvent } from '@holdfast/http-koa'
import { createAppendLines, lineFeed, nonBlocking, type WriteSome } from '../log/lines.ts'

/** A file to which lines are appended. It never rejects: lines that cannot be written are counted, and the count is written later. */
export interface TrailFile {
  /** Resolves when the system has taken the line, or when it could not be written. */
  write(line: string): Promise<void>
  /** Opens the file of that name again; resolves with `false` if that was impossible. */
  reopen(): Promise<boolean>
  /** Writes the waiting lines and closes the file. A later line opens it again. */
  close(): Promise<void>
}

export interface TrailFileEvents {
  /** Called when lines could not be written, `lost` since the last written one; or when the file could not be opened again. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Called when lines are written again after `lost` were not. */
  readonly onRecovery: (lost: number) => void
}

const defaultPatienceMs = 5_000

/**
 * Opens a {@link TrailFile}; rejects if that is impossible. If the file was moved or removed, the next line goes into a new file. If
 * no new file can be created, lines still go into the moved one. If a pipe is full, a line waits up to `patienceMs` for its reader.
 */
export async function openTrailFile(
  path: string,
  { onFailure, onRecovery }: TrailFileEvents,
  open: (path: string) => Promise<Appendable> = openAppendable,
  patienceMs = defaultPatienceMs,
): Promise<TrailFile> {
  let appendLines = createAppendLines()
  let file: Appendable | undefined = await open(path)
  let isStale = false
  let isClosed = false
  let lost = 0

  const currentFile = async (): Promise<Appendable> => {
    if (file !== undefined && !isStale && !(await file.isMoved())) return file
    try {
      const wasMoved = await file?.isMoved()
      const fresh = await open(path)
      // A line that was written in part is in the old file: the new one must not begin with an empty line.
      if (wasMoved) appendLines = createAppendLines()
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
    // Do not wait again for a reader that has taken nothing for so long: all answers would wait, too.
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
 * `write` for many callers: only one call of it runs at a time, and gets all items that came during the one before. The promise of
 * an item resolves when it has been written; `write` must not reject.
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

/** A file or stream to which bytes can be appended. */
interface Appendable {
  /** Whether `openAppendable` would now open another file, because this one was moved or removed. */
  isMoved(): Promise<boolean>
  /** Whether the file has no name any more, so that written bytes are lost. */
  isGone(): Promise<boolean>
  /** Writes the first bytes, on a pipe at most one line; rejects with `EAGAIN` if a pipe is full. */
  readonly writeSome: WriteSome
  close(): Promise<void>
}

const writeOnce = promisify(write)

/**
 * Opens the file `path` for appending, and creates it if it is missing, readable for its owner and group. Several processes may
 * append to one file: the bytes that one call of `writeSome` writes stay together. `-` and `/dev/stdout` are standard output,
 * `/dev/stderr` is standard error; there, and on pipes, the bytes of each line stay together.
 */
export async function openAppendable(path: string): Promise<Appendable> {
  const descriptor = standardStreams[path]
  if (descriptor !== undefined) return onStandardStream(descriptor)
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
  // Without `O_NONBLOCK`, opening a pipe waits for a reader.
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

/** The descriptors of the standard streams. To open them again would fail for sockets, and overwrite the log for files. */
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

/** Writes one line at a time: other processes may write to the same pipe, and a line that is written at once stays whole. */
function writeLineTo(fd: number): WriteSome {
  const write = writeTo(fd)
  return (bytes) => write(bytes.subarray(0, bytes.indexOf(lineFeed) + 1 || bytes.length))
}

/** The bytes are written already; an error of `close` loses nothing. */
async function closeQuietly(handle: FileHandle): Promise<void> {
  await handle.close().catch(() => {})
}

/**
 * Rejects as `openAppendable` would for `path`, but creates and changes nothing. It does not check whether a pipe has a reader.
 */
export async function checkAppendable(path: string): Promise<void> {
  if (standardStreams[path] !== undefined) return
  const { W_OK, X_OK, O_WRONLY, O_APPEND, O_NONBLOCK } = constants
  const there = await stat(path).catch(() => undefined)
  if (there === undefined) return access(dirname(path), W_OK | X_OK)
  // If the pipe were opened and closed, its reader would see the end of the input.
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

/** The error that says why the audit trail cannot be written to the file `path`, with the remedy. */
export function explainTrail(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const remedy = remedies[code] ?? 'choose another --audit-log'
  const reason = describeDenial(error) ?? `uid ${process.getuid?.() ?? '?'}: ${error.message}`
  return new SetupError(`The audit trail ${path} cannot be written (${reason})`, [`${remedy}.`])
}

/** Why events have no line: too many refused logins or refused uses of links, or the trail could not be written. */
export type OmissionReason = 'too-many' | 'unwritable'

/** One line of the trail; the order of the fields is part of the format in docs/audit.md. */
export function formatEvent(event: AuditEvent): string {
  return asLine({
    time: event.time.toISOString(),
    event: event.event,
    outcome: event.outcome,
    reason: event.reason ?? null,
    customer: event.customer ?? null,
    ...(event.login !== undefined && { login: event.login }),
    file: event.file ?? null,
    ...(event.to !== undefined && { to: event.to }),
    bytes: event.bytes ?? null,
    ...(event.versions !== undefined && { versions: event.versions }),
    requestId: event.requestId ?? null,
    address: event.address ?? null,
    ...(event.isByLink && { link: true }),
  })
}

/** The line that stands for `count` events without a line of their own. */
export function formatOmission(time: Date, reason: OmissionReason, count: number): string {
  return asLine({ time: time.toISOString(), event: 'omitted', reason, count })
}

/**
 * Characters that JSON does not escape, but that can end a line for some readers, control a terminal, or reverse text: control and
 * format characters, line and paragraph separators.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function asLine(fields: object): string {
  return `${JSON.stringify(fields).replace(unseen, escape)}\n`
}

function escape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
