import { createBufferPool } from '../files/buffer-pool.ts'
import { crashPoint } from '../files/crash-point.ts'
import { pooledCalls, type FileCalls } from '../files/file-calls.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import { createIncrementalSync, type IncrementalSync } from './incremental-sync.ts'

/** The first buffer: all that most files need. */
const smallBuffer = 64 * 1024

/** Keeps 4 MiB. New memory outside of the heap for each small file causes a full garbage collection every few hundred files. */
const smallPool = createBufferPool(smallBuffer, 64)

/** Every further one: a write call costs about as much as copying this much. */
const largeBuffer = 512 * 1024

/**
 * 24 MiB for all files together, kept once they were used, since new memory costs as much as filling it. While all are in use, other
 * files use only their small buffer.
 */
const pool = createBufferPool(largeBuffer, 48, 48)

/** Writes to the end of a file, in few large writes. */
export interface FileWriter {
  /** Takes the next bytes. If it returns a promise, the caller awaits that before it changes them or writes more. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** Resolves when everything so far has been written; called when no `write` is under way. */
  settle(): Promise<void>
  /** Resolves when everything has been written. */
  end(): Promise<void>
  /** Resolves when no call on the file is running any more, after `end` or instead of it; never rejects. */
  close(): Promise<void>
}

/**
 * Makes the writer to the end of `file`. It fills one buffer while the one before is being written. `calls` write what
 * fits into the first. Later writes go to the thread pool, since the system may block a writer until the disk catches up.
 */
export function createFileWriter(
  file: number,
  calls: FileCalls,
  sync: IncrementalSync = createIncrementalSync(file, calls),
): FileWriter {
  let chosen = calls
  let buffer = smallPool.borrow().next()
  let used = 0
  let writing = Promise.resolve()

  const write = async (bytes: Uint8Array) => {
    await writeAll(file, bytes, chosen)
    const synced = sync.wrote(bytes.length)
    if (synced) await synced
  }

  /** Resolves when the write before has ended and this one has started. */
  const begin = async (bytes: Uint8Array) => {
    await writing
    writing = write(bytes)
    // The next `await` of it reports the failure.
    writing.catch(() => {})
  }

  const flush = async () => {
    const full = buffer
    chosen = pooledCalls
    await begin(full.subarray(0, used))
    used = 0
    const other = pool.take()
    if (!other) return writing
    buffer = other
    const giveBack = () => give(full)
    void writing.then(giveBack, giveBack)
  }

  const settle = async () => {
    await begin(buffer.subarray(0, used))
    used = 0
    await writing
  }

  const copy = (bytes: Uint8Array): undefined => {
    buffer.set(bytes, used)
    used += bytes.length
  }

  const writeOver = async (bytes: Uint8Array) => {
    await flush()
    if (bytes.length < buffer.length) return copy(bytes)
    await begin(bytes)
    await writing
  }

  return {
    write: (bytes) => (used + bytes.length > buffer.length ? writeOver(bytes) : copy(bytes)),
    settle,
    async end() {
      await settle()
      await sync.end()
    },
    async close() {
      await writing.catch(() => {})
      await sync.end().catch(() => {})
      give(buffer)
    },
  }
}

function give(buffer: Buffer): void {
  const home = buffer.length === largeBuffer ? pool : smallPool
  home.give(buffer)
}

/** The system may write less than it was given, when the disk is nearly full or a limit is near. */
async function writeAll(file: number, bytes: Uint8Array, calls: FileCalls): Promise<void> {
  let rest = bytes
  while (rest.length > 0) {
    rest = rest.subarray(await translateFsError(calls.write(file, rest)))
    crashPoint('content-written')
  }
}
