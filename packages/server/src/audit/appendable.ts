import { closeSync, constants, write } from 'node:fs'
import { access, open, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { nonBlocking, type WriteSome } from '../log/append-lines.ts'

/** Something that bytes can be written to the end of. */
export interface Appendable {
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
