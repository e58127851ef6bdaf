import * as fs from 'node:fs'
import { FileServiceError, type ErrorCode, type BlobInfo } from '@holdfast/core'

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

/** A circuit breaker for calls on the main thread: it trips when they have been slow. */
interface LatencyBreaker {
  /** Whether recent calls were slow, so that the next one should use the thread pool. */
  isTripped(): boolean
  /** Runs `call`, which blocks, and measures its duration. Returns or throws what `call` does. */
  time<Result>(call: () => Result): Result
}

/** How many calls are averaged. A single one may be slow by chance. */
const weight = 16

/** The average duration of calls, in milliseconds, above which it trips: more means waiting for a disk. A single call of 8 ms is enough. */
const usualMost = 0.5

/** At most 1/20 of the time goes into slow calls: a slow disk, or one hiccup, must not keep every request waiting. */
const restFactor = 20

/**
 * How old the last reading of `withoutProcessor` may be, in milliseconds: a reading before each call would take as long as the call. Time
 * lost before a slow call, but after that reading, counts as lost during the call.
 */
const askedEveryMs = 2

/**
 * Makes a breaker for calls that usually take microseconds, less than waking a thread, but sometimes wait for a disk. When their average
 * exceeds `most` milliseconds, it stays tripped for 20 times their total duration. Time in which the thread had no processor does not
 * count: the thread pool would not help against that.
 */
export function createLatencyBreaker(
  most = usualMost,
  clock: ThreadClock = threadClock,
): LatencyBreaker {
  let average = 0
  let trippedUntil = 0
  let askedAt = -Infinity
  let lostBefore = 0
  const ask = () => {
    askedAt = clock.now()
    const lost = clock.withoutProcessor()
    const sinceAsked = lost - lostBefore
    lostBefore = lost
    return sinceAsked
  }
  return {
    isTripped: () => trippedUntil > 0 && clock.now() < trippedUntil,
    time(call) {
      if (clock.now() - askedAt > askedEveryMs) ask()
      const begin = clock.now()
      try {
        return call()
      } finally {
        const end = clock.now()
        const elapsed = end - begin
        const cost = elapsed > most ? Math.max(0, elapsed - ask()) : elapsed
        average += (cost - average) / weight
        if (average > most) {
          trippedUntil = end + restFactor * weight * average
          average = 0
        }
      }
    },
  }
}

/** For file systems whose calls may block. */
export const trippedBreaker: LatencyBreaker = { isTripped: () => true, time: (call) => call() }

/** Calls that never block the main thread. */
export const pooledCalls = createFileCalls(trippedBreaker)

/** Times of the calling thread, in milliseconds. */
export interface ThreadClock {
  /** Never goes back. */
  now(): number
  /**
   * How long in total the thread was ready to run while another thread had the processor. Waiting for a disk is not part of it. Always 0
   * where the system does not count it.
   */
  withoutProcessor(): number
}

/** A reading of `withoutProcessor` takes two microseconds on Linux; elsewhere it is always 0. */
export const threadClock: ThreadClock = { now: () => performance.now(), withoutProcessor }

const bytes = Buffer.alloc(64)

/** Stays open until the process ends; `undefined` where there is no such file. */
let statistics: number | undefined
let isOpened = false

function withoutProcessor(): number {
  try {
    if (!isOpened) {
      isOpened = true
      statistics = fs.openSync('/proc/thread-self/schedstat', 'r')
    }
    if (statistics === undefined) return 0
    // Nanoseconds on the processor, nanoseconds of waiting for one, number of time slices.
    const length = fs.readSync(statistics, bytes, 0, bytes.length, 0)
    const nanoseconds = Number(bytes.toString('latin1', 0, length).split(' ')[1])
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : 0
  } catch {
    statistics = undefined
    return 0
  }
}

interface Meaning {
  readonly systemCodes: readonly string[]
  readonly code: ErrorCode
  readonly message: string
}

/** System errors that mean the same for the whole store wherever they occur. */
const meanings: readonly Meaning[] = [
  {
    systemCodes: ['ENOSPC', 'EDQUOT'],
    code: 'insufficient-storage',
    message: 'The disk has no room for the file',
  },
  {
    systemCodes: ['EFBIG'],
    code: 'file-too-large',
    message: 'The file system takes no file of that size',
  },
  {
    systemCodes: ['EROFS'],
    code: 'store-unavailable',
    message: 'The file system is mounted read-only',
  },
  {
    systemCodes: ['EMFILE', 'ENFILE', 'ENOMEM'],
    code: 'store-unavailable',
    message: 'The system has no open file or memory left',
  },
  {
    // Network file systems and FUSE give these when the server or the process is gone.
    systemCodes: [
      ...['ESTALE', 'ENODEV', 'ENOTCONN', 'ECONNABORTED', 'ETIMEDOUT'],
      ...['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
    ],
    code: 'store-unavailable',
    message: 'The file system cannot be reached',
  },
]

/**
 * Settles as `work` does, but translates errors of the file system into errors of the service: `insufficient-storage` for a full disk or
 * disk quota, `file-too-large` for a file beyond the file system's maximum, and `store-unavailable` where the whole store is out of use
 * and a retry may succeed: read-only, unreachable, no open file left. Other errors, such as a damaged disk or a missing permission, stay
 * as they are.
 */
export async function translateFsError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const meaning = meanings.find(({ systemCodes }) => isSystemError(cause, ...systemCodes))
    if (meaning === undefined) throw cause
    throw new FileServiceError(meaning.code, meaning.message, { cause })
  }
}

/** Whether `error` is a failed system call with one of `codes`, such as `ENOENT`. */
export function isSystemError(error: unknown, ...codes: readonly string[]): error is Error {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  )
}

/**
 * Whether the system reports that nothing has the name: the entry is missing, or a parent on its path is no directory. No other error
 * counts as absence; "permission denied" least of all.
 */
export function isAbsence(error: unknown): boolean {
  return isSystemError(error, 'ENOENT', 'ENOTDIR')
}

/** For the `catch` of a promise, which then resolves with `undefined` if nothing has the name. Throws every other error again. */
export function undefinedIfAbsent(error: unknown): undefined {
  if (!isAbsence(error)) throw error
}

/** The stats of the regular file at `path`; `undefined` if there is none. A symbolic link is no blob. */
export async function fileStats(path: string, calls: Pick<FileCalls, 'lstat'>) {
  try {
    const stats = await calls.lstat(path)
    return stats.isFile() ? stats : undefined
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/**
 * The port's description of the blob `name` whose file has these `stats`. The entity tag is inode, size and modification time in
 * nanoseconds, each in base 36. Each replacement and each edit by hand changes the time, so no record beside the file is needed. A
 * restored backup has new inodes, so its files get new tags.
 */
export function blobInfo(name: string, stats: fs.BigIntStats): BlobInfo {
  const etag = [stats.ino, stats.size, stats.mtimeNs].map((part) => part.toString(36)).join('-')
  return { name, size: Number(stats.size), modifiedAt: stats.mtime, etag }
}

/** Open a blob's file without following symbolic links. O_NONBLOCK keeps a named pipe from blocking until a writer opens it. */
export const readFlags =
  fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW || 0) | (fs.constants.O_NONBLOCK || 0)
