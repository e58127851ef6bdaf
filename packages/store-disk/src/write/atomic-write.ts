import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { abortable, type PutOptions } from '@holdfast/core'
import { crashPoint } from '../files/crash-point.ts'
import { pooledCalls, translateFsError } from '../files/file-calls.ts'
import { createFileContent, readByPool } from '../read/file-content.ts'
import { noReplacements } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'
import { type FileWriter, writeContent } from './file-writer.ts'
import {
  noPreparation,
  publishFile,
  type Publication,
  nextModificationTime,
} from './publish-file.ts'

export interface AtomicWrite extends Publication {
  /** Makes the temporary file, on the same file system as the target. */
  readonly tempDirectory: TempDirectory
  /** The number of this process among those that share the directory. */
  readonly writer: number
  readonly content: AsyncIterable<Uint8Array>
  /** Receives the chunks that are no longer needed. */
  readonly release: PutOptions['release'] | undefined
  /** Receives the function that reads what has been written of the content. */
  readonly onReadable: PutOptions['onReadable'] | undefined
}

/** The options of a write that replaces its target, and needs no preparation, journal or signal. */
export const plainWrite = {
  ...noPreparation,
  journal: noReplacements,
  createOnly: false,
  signal: undefined,
  release: undefined,
  onReadable: undefined,
}

/**
 * Publishes `content` as `target` atomically, and resolves when it survives a power cut. The content goes into a
 * temporary file, which is synced before the rename: otherwise a power cut could leave the name with half of the
 * content, or with none. Then the directory is synced: otherwise the name itself could be lost. On any failure the
 * temporary file is removed and the error thrown, as `translateFsError` translates it. If only the last sync
 * fails, the content has its name, which a power cut may undo.
 */
export async function atomicWrite(write: AtomicWrite): Promise<BigIntStats> {
  const { path, file } = await translateFsError(write.tempDirectory.createTemporaryFile())
  try {
    const stats = await fill(path, file, write)
    write.signal?.throwIfAborted()
    await publishFile(path, write)
    crashPoint('name-synced')
    return stats
  } catch (error) {
    await write.tempDirectory.remove(path)
    crashPoint('discarded')
    throw error
  }
}

/** Writes the content into `file`, makes it durable, and closes the file in any case. */
async function fill(path: string, file: number, write: AtomicWrite): Promise<BigIntStats> {
  const { calls, content, signal, release, onReadable } = write
  const onWriter = (writer: FileWriter) => onReadable?.(() => readBack(path, writer))
  let stats: BigIntStats
  try {
    await writeContent(file, abortable(content, signal), calls, release, onWriter)
    stats = await translateFsError(sealFile(file, write))
  } catch (error) {
    await calls.close(file).catch(() => {})
    throw error
  }
  await translateFsError(calls.close(file))
  crashPoint('temporary-closed')
  return stats
}

/** What `writer` has received so far for the file at `path`. The reader may use a chunk until it asks for the next one. */
async function* readBack(
  path: string,
  writer: Pick<FileWriter, 'settle'>,
): AsyncIterable<Uint8Array> {
  await writer.settle()
  const { size } = await translateFsError(stat(path))
  const file = await translateFsError(pooledCalls.open(path, 'r'))
  yield* createFileContent(readByPool(file), { offset: 0, length: size }, true).content
}

/**
 * Sets the time of `file` for its entity tag, and makes the file durable. It never retries a sync: the kernel drops the pages that it
 * could not write, and a second sync would succeed without them.
 */
async function sealFile(file: number, { calls, writer }: AtomicWrite): Promise<BigIntStats> {
  await calls.setTimes(file, nextModificationTime(writer))
  await calls.sync(file)
  crashPoint('content-synced')
  return calls.stat(file)
}
