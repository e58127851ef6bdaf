import type { BigIntStats } from 'node:fs'
import {
  resolveRange,
  type BlobInfo,
  type ByteRange,
  type OpenBlob,
  type OpenOptions,
} from '@holdfast/core'
import {
  blobInfo,
  fileStats,
  readFlags,
  createFileCalls,
  pooledCalls,
  type FileCalls,
  createLatencyBreaker,
  threadClock,
  type ThreadClock,
  isAbsence,
  isSystemError,
} from '../files/file-calls.ts'
import {
  isUnchanged,
  noUnchangedCache,
  type CachedRead,
  type UnchangedCache,
} from '../files/unchanged-cache.ts'
import { becameShorter, createFileContent, readByPool } from './file-content.ts'

/** Opens the blob `name` whose file is at `path`; `undefined` if there is no regular file. */
export type ReadBlob = (
  path: string,
  name: string,
  options: OpenOptions,
) => Promise<OpenBlob | undefined>

export interface BlobReaderOptions {
  /** For the bytes of small files. */
  readonly cache: UnchangedCache
  /** Default: that of this thread. */
  readonly clock?: ThreadClock | undefined
}

/** The most bytes, of a file or a range, that are read into memory when a blob is opened: copying them takes some 20 us. */
const inMemoryLimit = 128 * 1024

/**
 * How long a call of a read may take on average, in milliseconds. The page cache, and a fast disk that is idle, stay below it; a disk that
 * is busy or has rotating platters does not, and the pool reads from it.
 */
const mostMsOfReads = 0.1

/**
 * Makes the reader of blobs; `isLocal` says whether the file system is certainly on this machine. To wake a thread of the pool takes
 * several times as long as to read some KiB from the page cache. So the main thread reads small files and small ranges itself, unless
 * reads were slow lately: it must not wait long for a disk. The bytes of small files are cached.
 */
export function createBlobReader(
  isLocal: boolean,
  { cache: given, clock = threadClock }: BlobReaderOptions,
): ReadBlob {
  const cache = isLocal ? given : noUnchangedCache
  const callsWithin = (mostMs?: number) =>
    isLocal ? createFileCalls(createLatencyBreaker(mostMs, clock)) : pooledCalls
  // Where the bytes are cached, the system has the stats in memory as a rule, however slow reads are.
  const looks = callsWithin()
  const reads = callsWithin(mostMsOfReads)

  const readOpened = async (path: string, file: OpenFile, { range: request }: OpenOptions) => {
    const { info, stats } = file
    if (info.size <= inMemoryLimit) {
      const blob = { info, bytes: await readPart(reads, file, { offset: 0, length: info.size }) }
      cache.keep(path, { stats, memory: info.size, blob })
      return partOf(blob, request)
    }
    const range = resolveRange(request, info.size)
    const part = range ?? nothing
    if (part.length > inMemoryLimit) return undefined
    const bytes = await readPart(reads, file, part)
    return { info, range, ...inMemory(bytes) }
  }

  return async (path, name, readOptions) => {
    const known = cache.get(path)
    if (known?.blob) {
      const stats = await fileStats(path, looks)
      if (stats && isUnchanged(known.stats, stats)) return partOf(known.blob, readOptions.range)
    }
    const file = await openIfThere(path, name, reads)
    if (!file) return undefined
    let isKeptOpen = false
    try {
      const blob = await readOpened(path, file, readOptions)
      isKeptOpen = blob === undefined
      return blob ?? streamed(file, readOptions)
    } finally {
      if (!isKeptOpen) await reads.close(file.descriptor)
    }
  }
}

type CachedBlob = NonNullable<CachedRead['blob']>

interface OpenFile {
  readonly descriptor: number
  readonly stats: BigIntStats
  readonly info: BlobInfo
}

/** `undefined` if there is no regular file at `path`. */
async function openIfThere(
  path: string,
  name: string,
  calls: FileCalls,
): Promise<OpenFile | undefined> {
  const descriptor = await calls.open(path, readFlags).catch(absentIfMissing)
  if (descriptor === undefined) return undefined
  let isKeptOpen = false
  try {
    const stats = await calls.stat(descriptor)
    isKeptOpen = stats.isFile()
    return isKeptOpen ? { descriptor, stats, info: blobInfo(name, stats) } : undefined
  } finally {
    if (!isKeptOpen) await calls.close(descriptor)
  }
}

function absentIfMissing(error: unknown): undefined {
  // ELOOP: a symbolic link (FreeBSD says EMLINK). ENXIO: a socket. EISDIR: a directory, on Windows.
  if (!isAbsence(error) && !isSystemError(error, 'ELOOP', 'EMLINK', 'ENXIO', 'EISDIR')) throw error
}

const nothing: ByteRange = { offset: 0, length: 0 }

/** Reads until it has all bytes: a signal may end a read early. */
async function readPart(
  calls: FileCalls,
  { descriptor }: OpenFile,
  { offset, length }: ByteRange,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  let done = 0
  while (done < length) {
    const read = await calls.read(descriptor, bytes.subarray(done), offset + done)
    if (read === 0) throw becameShorter(offset + done, offset + length)
    done += read
  }
  return bytes
}

function streamed(
  { descriptor, info }: OpenFile,
  { range: request, reuseChunks }: OpenOptions,
): OpenBlob {
  const range = resolveRange(request, info.size)
  const content = createFileContent(readByPool(descriptor), range ?? nothing, reuseChunks)
  return { info, range, ...content }
}

function partOf({ info, bytes }: CachedBlob, request: OpenOptions['range']): OpenBlob {
  const range = resolveRange(request, info.size)
  const { offset, length } = range ?? nothing
  const part = length === bytes.length ? bytes : bytes.subarray(offset, offset + length)
  return { info, range, ...inMemory(part) }
}

/** The content of an open blob whose bytes are in memory. */
function inMemory(bytes: Uint8Array): Pick<OpenBlob, 'bytes' | 'content' | 'close'> {
  return { bytes, content: once(bytes), close: nothingToClose }
}

async function nothingToClose(): Promise<void> {}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
