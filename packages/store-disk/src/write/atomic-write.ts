import type { BigIntStats } from 'node:fs'
import { dirname } from 'node:path'
import { abortable, FileServiceError, type PutOptions } from '@holdfast/core'
import type { DurableDirectories } from '../directory/durable-directories.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { isSystemError } from '../files/system-error.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'
import type { FileWriter } from './file-writer.ts'
import { nextModificationTime } from './modification-time.ts'
import { readBack } from './read-back.ts'
import { writeContent } from './write-content.ts'

export interface AtomicWrite {
  /** Make, write and rename the temporary file. */
  readonly calls: FileCalls
  /** Makes the temporary file, on the same file system as the target. */
  readonly tempDirectory: TempDirectory
  readonly directories: DurableDirectories
  /** Records a file that may be replaced. */
  readonly journal: Pick<ReplacementJournal, 'replace'>
  /** The number of this process among those that share the directory. */
  readonly writer: number
  /** The path of the content, in a directory below the root of `directories`, which need not exist. */
  readonly target: string
  readonly content: AsyncIterable<Uint8Array>
  /** Fail with `already-exists` instead of replacing what is there. */
  readonly createOnly: boolean
  readonly signal: AbortSignal | undefined
  /** Takes back the chunks that are no longer needed. */
  readonly release: PutOptions['release'] | undefined
  /** Takes the function that reads what has been written of the content. */
  readonly onReadable: PutOptions['onReadable'] | undefined
}

/**
 * Publishes `content` as `target` atomically, and resolves when it survives a power cut. The content goes into a
 * temporary file, which is synced before the rename: otherwise a power cut could leave the name with half of the
 * content, or with none. Then the directory is synced: otherwise the name itself could be lost. On any failure the
 * temporary file is removed and the error thrown, as `translate-fs-error.ts` translates it. If only the last sync
 * fails, the content has its name, which a power cut may undo.
 */
export async function atomicWrite(write: AtomicWrite): Promise<BigIntStats> {
  const { path, file } = await translateFsError(write.tempDirectory.createTemporaryFile())
  try {
    const stats = await fill(path, file, write)
    write.signal?.throwIfAborted()
    await publish(path, write)
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
    stats = await translateFsError(seal(file, write))
  } catch (error) {
    await calls.close(file).catch(() => {})
    throw error
  }
  await translateFsError(calls.close(file))
  crashPoint('temporary-closed')
  return stats
}

/**
 * Makes the content durable. It never retries a sync: the kernel drops the pages that it could not write, and a second
 * sync would succeed without them.
 */
async function seal(file: number, { calls, writer }: AtomicWrite): Promise<BigIntStats> {
  await calls.setTimes(file, nextModificationTime(writer))
  await calls.sync(file)
  crashPoint('content-synced')
  return calls.stat(file)
}

async function publish(path: string, write: AtomicWrite): Promise<void> {
  const { calls, directories, target, signal } = write
  const directory = dirname(target)
  await translateFsError(directories.ensure(directory))
  signal?.throwIfAborted()
  const giveName = () => changeDurably(directory, () => nameIt(path, write), calls)
  try {
    await translateFsError(giveName())
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error
    // An administrator removed the customer's directory, or one above it.
    directories.forget()
    await translateFsError(directories.ensure(directory))
    await translateFsError(giveName())
  }
}

async function nameIt(path: string, write: AtomicWrite): Promise<void> {
  if (!write.createOnly) {
    const { calls, journal, target } = write
    await journal.replace(target, () => calls.rename(path, target))
    crashPoint('named')
    return
  }
  await linkAs(path, write)
  // The content is published. The name in the temporary directory is only litter from now on.
  await write.tempDirectory.remove(path)
  crashPoint('second-name-removed')
}

/** Unlike a rename, a link never replaces what is there. */
async function linkAs(path: string, { calls, target }: AtomicWrite): Promise<void> {
  try {
    await calls.link(path, target)
    crashPoint('named')
  } catch (cause) {
    if (!isSystemError(cause, 'EEXIST')) throw cause
    throw new FileServiceError('already-exists', 'The name is taken', { cause })
  }
}
