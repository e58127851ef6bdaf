import { closeSync, constants, write } from 'node:fs'
import { access, open, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { nonBlocking } from '../log/log-writer.ts'

/** Something that bytes can be written to the end of. */
export interface Appendable {
  /** Whether a later `openAppendable` would open something else: the file was moved or removed. */
  isMoved(): Promise<boolean>
  /** Whether nothing leads to it any more, so that what is written is lost. */
  isGone(): Promise<boolean>
  /**
   * Writes all of `bytes`; rejects with an {@link AppendError}. Where a pipe is full, `waits` for its reader, until that
   * has taken nothing for five seconds, or gives up at once.
   */
  append(bytes: Uint8Array, waits: boolean): Promise<void>
  close(): Promise<void>
}

/** Some of the bytes could not be written. */
export class AppendError extends Error {
  override readonly name = 'AppendError'
  /** How many bytes were. */
  readonly written: number

  constructor(cause: unknown, written: number) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.written = written
  }
}

const lineFeed = 0x0a

const writeTo = promisify(write)

/** How long a pipe that is full gets before the next try, in milliseconds. */
const retryMs = 10

/** How often a pipe is tried whose reader takes nothing. */
const tries = 500

/**
 * Opens the file `path` for appending, and makes it if it is missing, for its owner and group. Several processes may
 * append to one file: what one `append` takes is in one piece. `-` and `/dev/stdout` are standard output, `/dev/stderr` is
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
    append: (bytes, waits) =>
      appendTo(handle.fd, bytes, opened.isFile() ? endOfAll : endOfLine, waits),
    close: () => closeQuietly(handle),
  }
}

/**
 * Their descriptors. Opening these anew would fail where they are sockets, and overwrite the log where they are files.
 */
export const standardStreams: Readonly<Record<string, number>> = {
  '-': 1,
  '/dev/stdout': 1,
  '/dev/stderr': 2,
}

function onStandardStream(descriptor: number): Appendable {
  const fd = nonBlocking(descriptor)
  return {
    isMoved: async () => false,
    isGone: async () => false,
    append: (bytes, waits) => appendTo(fd, bytes, endOfLine, waits),
    close: async () => {
      if (fd !== descriptor) closeSync(fd)
    },
  }
}

/** Where the piece ends that begins at `from`. */
type EndOfPiece = (bytes: Uint8Array, from: number) => number

const endOfAll: EndOfPiece = (bytes) => bytes.length
const endOfLine: EndOfPiece = (bytes, from) => bytes.indexOf(lineFeed, from) + 1 || bytes.length

async function appendTo(
  fd: number,
  bytes: Uint8Array,
  endOfPiece: EndOfPiece,
  waits: boolean,
): Promise<void> {
  let written = 0
  let triesLeft = waits ? tries : 0
  while (written < bytes.length) {
    try {
      const length = endOfPiece(bytes, written) - written
      written += (await writeTo(fd, bytes, written, length)).bytesWritten
      triesLeft = waits ? tries : 0
    } catch (error) {
      if (!isFullPipe(error) || triesLeft-- === 0) throw new AppendError(error, written)
      await delay(retryMs)
    }
  }
}

function isFullPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

/** Of what was written nothing depends on how closing ends. */
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
