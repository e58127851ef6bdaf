import { requireBytes } from '@holdfast/core'
import { createBufferPool } from '../files/buffer-pool.ts'
import { crashPoint } from '../files/crash-point.ts'
import { pooledCalls, type FileCalls, translateFsError } from '../files/file-calls.ts'

/** Bytes of the first buffer: most files need no other. */
const smallBuffer = 64 * 1024

/** Keeps 4 MiB. New memory outside of the heap for each small file causes a full garbage collection every few hundred files. */
const smallPool = createBufferPool(smallBuffer, 64)

/** Bytes of every further buffer: a write call costs about as much as copying this much. */
const largeBuffer = 512 * 1024

/**
 * 24 MiB for all files together. They are kept once they were used, since new memory costs as much as filling it. While all are in use,
 * other files use only their small buffer.
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

  /** Resolves when the previous write has ended and this one has started. */
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
    const returnBuffer = () => give(full)
    void writing.then(returnBuffer, returnBuffer)
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

/** The system may write less than it was given if the disk is nearly full or a limit is near. */
async function writeAll(file: number, bytes: Uint8Array, calls: FileCalls): Promise<void> {
  let rest = bytes
  while (rest.length > 0) {
    rest = rest.subarray(await translateFsError(calls.write(file, rest)))
    crashPoint('content-written')
  }
}

/** Bytes between two syncs: enough for a fast sync, and few enough for the last one to end soon. */
const syncInterval = 32 * 1024 * 1024

/** Bytes of large contents that this process has written. */
let writtenByAll = 0

/** Syncs a file while it is being written. */
export interface IncrementalSync {
  /**
   * Counts bytes that were written to the file, and starts a sync if one is due. If it returns a promise, the writer awaits that
   * before it writes more.
   */
  wrote(bytes: number): Promise<void> | undefined
  /** Resolves when no sync is running; rejects if one has failed, since a later one would succeed without its bytes. */
  end(): Promise<void>
}

/**
 * Syncs `file` after every 32 MiB while it is written. Otherwise the system keeps the content in memory until the last
 * sync, and the disk is idle until then. It does not sync while other uploads write much: the disk is busy then, and
 * each sync would wait for their bytes, too.
 */
function createIncrementalSync(file: number, calls: FileCalls): IncrementalSync {
  let unsynced = 0
  let writtenBefore = writtenByAll
  let syncing: Promise<void> | undefined

  const sync = async () => {
    // After a failure `syncing` stays as it is, so that no other sync starts.
    await translateFsError(calls.datasync(file))
    syncing = undefined
  }

  return {
    wrote(bytes) {
      writtenByAll += bytes
      unsynced += bytes
      if (unsynced < syncInterval || syncing) return undefined
      const byOthers = writtenByAll - writtenBefore - unsynced
      const isAlone = byOthers < unsynced / 4
      unsynced = 0
      writtenBefore = writtenByAll
      if (!isAlone) return undefined
      syncing = sync()
      // `end` reports the failure.
      syncing.catch(() => {})
      return undefined
    },
    end: async () => syncing,
  }
}

/**
 * Appends `content` to `file` in few large writes, whatever the size of its chunks. Small chunks are copied and not
 * kept: a chunk of one byte may keep a network buffer of 64 KiB alive. Each chunk goes to `release` once it is copied
 * or written. `onWriter` is called before the first chunk is asked for. When the promise settles, no call on the file is running
 * any more.
 */
export async function writeContent(
  file: number,
  content: AsyncIterable<Uint8Array>,
  calls: FileCalls,
  release: (chunk: Uint8Array) => void = () => {},
  onWriter: (writer: FileWriter) => void = () => {},
): Promise<void> {
  const writer = createFileWriter(file, calls)
  try {
    onWriter(writer)
    await writeChunks(writer, content, release)
    await writer.end()
  } finally {
    await writer.close()
  }
}

/** Hands `content` to `writer`. Each chunk goes to `release` once it is copied or written; the last bytes may still be in the writer. */
export async function writeChunks(
  writer: Pick<FileWriter, 'write'>,
  content: AsyncIterable<Uint8Array>,
  release: (chunk: Uint8Array) => void,
): Promise<void> {
  for await (const chunk of content) {
    requireBytes(chunk)
    const room = writer.write(chunk)
    if (room) await room
    release(chunk)
  }
  crashPoint('content-ended')
}
