import * as fs from 'node:fs'
import { trippedBreaker, type LatencyBreaker } from './latency-breaker.ts'
import { isSystemError } from './translate-fs-error.ts'

/**
 * The thread pool replaces and removes files of more than so many bytes: to free what a file has in memory takes about 0.2 ms for each
 * MiB.
 */
export const largeSize = 256 * 1024

/**
 * File system calls. As a rule they only touch memory; the two syncs wait for the disk. All reject with the system's error. A file is a
 * descriptor here: the caller that opens one closes it once, even if the close fails.
 */
export interface FileCalls {
  /** Resolves with the descriptor. */
  open(path: string, flags: string | number, mode?: number): Promise<number>
  /** Reads into `bytes` from `position` on, and resolves with how many; 0 at the end of the file. */
  read(file: number, bytes: Uint8Array, position: number): Promise<number>
  /** Appends `bytes`, and resolves with the number that was written. */
  write(file: number, bytes: Uint8Array): Promise<number>
  /** Sets the times of access and of modification, in seconds. */
  setTimes(file: number, time: number): Promise<void>
  /** Drops what is beyond the first `size` bytes. */
  truncate(file: number, size: number): Promise<void>
  stat(file: number): Promise<fs.BigIntStats>
  /** The stats of `path` itself: does not follow a symbolic link. */
  lstat(path: string): Promise<fs.BigIntStats>
  sync(file: number): Promise<void>
  /** Syncs the content, and only the metadata that is needed to find it again. */
  datasync(file: number): Promise<void>
  close(file: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  link(from: string, to: string): Promise<void>
  /** Makes a symbolic link to `text`, which need not exist. */
  symlink(text: string, path: string): Promise<void>
  unlink(path: string): Promise<void>
  /** Names of entries; for directories that have few of them. */
  readdir(directory: string): Promise<string[]>
}

/**
 * Makes calls that run on the main thread while `breaker` has not tripped: to wake a thread of the pool takes longer than most of them.
 * The pool runs the others, and every sync.
 */
export function createFileCalls(breaker: LatencyBreaker): FileCalls {
  const either =
    <Args extends unknown[], Result>(
      now: (...args: Args) => Result,
      later: (...args: Args) => Promise<Result>,
    ) =>
    async (...args: Args) =>
      breaker.isTripped() ? later(...args) : breaker.time(() => now(...args))
  return {
    open: either(
      (path: string, flags: string | number, mode?: number) => fs.openSync(path, flags, mode),
      (path, flags, mode) => byPool<number>((done) => fs.open(path, flags, mode, done)),
    ),
    read: either(
      (file: number, bytes: Uint8Array, position: number) =>
        fs.readSync(file, bytes, 0, bytes.length, position),
      (file, bytes, position) =>
        byPool<number>((done) => fs.read(file, bytes, 0, bytes.length, position, done)),
    ),
    write: either(
      (file: number, bytes: Uint8Array) => fs.writeSync(file, bytes),
      (file, bytes) => byPool<number>((done) => fs.write(file, bytes, done)),
    ),
    setTimes: either(
      (file: number, time: number) => fs.futimesSync(file, time, time),
      (file, time) => byPool((done) => fs.futimes(file, time, time, done)),
    ),
    truncate: (file, size) => byPool((done) => fs.ftruncate(file, size, done)),
    stat: either(
      (file: number) => fs.fstatSync(file, { bigint: true }),
      (file) => byPool<fs.BigIntStats>((done) => fs.fstat(file, { bigint: true }, done)),
    ),
    lstat: either(
      (path: string) => fs.lstatSync(path, { bigint: true }),
      (path) => byPool<fs.BigIntStats>((done) => fs.lstat(path, { bigint: true }, done)),
    ),
    sync: (file) => recordFailedSync(byPool((done) => fs.fsync(file, done))),
    datasync: (file) => recordFailedSync(byPool((done) => fs.fdatasync(file, done))),
    close: either(
      (file: number) => fs.closeSync(file),
      (file) => byPool((done) => fs.close(file, done)),
    ),
    rename: async (from, to) =>
      breaker.isTripped() || breaker.time(() => isLarge(to))
        ? byPool((done) => fs.rename(from, to, done))
        : breaker.time(() => fs.renameSync(from, to)),
    link: either(
      (from: string, to: string) => fs.linkSync(from, to),
      (from, to) => byPool((done) => fs.link(from, to, done)),
    ),
    symlink: either(
      (text: string, path: string) => fs.symlinkSync(text, path),
      (text, path) => byPool((done) => fs.symlink(text, path, done)),
    ),
    unlink: either(
      (path: string) => fs.unlinkSync(path),
      (path) => byPool((done) => fs.unlink(path, done)),
    ),
    readdir: either(
      (directory: string) => fs.readdirSync(directory),
      (directory) => byPool<string[]>((done) => fs.readdir(directory, done)),
    ),
  }
}

/** Resolves with the result of `call`. Node's `promisify` makes a function each time, which takes longer than the call. */
function byPool<Result = void>(
  call: (done: (error: Error | null, result: Result) => void) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    call((error, result) => {
      if (error) reject(error)
      else resolve(result)
    })
  })
}

function isLarge(path: string): boolean {
  return (fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > largeSize
}

/** Calls that never block the main thread. */
export const pooledCalls = createFileCalls(trippedBreaker)

let last: { readonly error: unknown } | undefined

/** The last sync of this process that failed; `undefined` if none has. Each failure is a new object. */
export function lastFailedSync(): { readonly error: unknown } | undefined {
  return last
}

/**
 * Settles as `sync` does, and records a failure for {@link lastFailedSync}. EINVAL is not a failure: the file system
 * cannot sync this kind of file.
 */
async function recordFailedSync(sync: Promise<void>): Promise<void> {
  try {
    await sync
  } catch (error) {
    if (!isSystemError(error, 'EINVAL')) last = { error }
    throw error
  }
}
