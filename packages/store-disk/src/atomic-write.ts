import type { BigIntStats } from 'node:fs'
import { link, rename, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { abortable, FileServiceError } from '@holdfast/core'
import { changeDurably } from './change-durably.ts'
import type { DurableDirectories } from './durable-directories.ts'
import type { Instance, TemporaryFile } from './instance.ts'
import { nextModificationTime } from './modification-time.ts'
import { namingFailure } from './naming-failure.ts'
import { step } from './step.ts'
import { isSystemError } from './system-error.ts'
import { writeContent } from './write-content.ts'

export interface AtomicWrite {
  /** Makes the temporary file, on the same file system as the target. */
  readonly instance: Instance
  readonly directories: DurableDirectories
  /** The path that the content gets, in a directory below that of `directories`, which need not exist. */
  readonly target: string
  readonly content: AsyncIterable<Uint8Array>
  /** Fail with `already-exists` instead of replacing what is there. */
  readonly createOnly: boolean
  readonly signal: AbortSignal | undefined
  /** Told of chunks that are not needed any more. */
  readonly release: ((chunk: Uint8Array) => void) | undefined
}

/**
 * Gives `content` the name `target` in one step, and resolves when that survives a power cut. The content goes into a
 * temporary file and is synced before it gets its name: the other way round, a power cut could leave the name with
 * half of the content, or with none. Then the directory is synced, or the name itself could be lost. When anything
 * fails, the temporary file is removed and that very error thrown, or what `naming-failure.ts` makes of it. Where only
 * the last sync fails, the content has its name, and nobody knows for how long.
 */
export async function atomicWrite(write: AtomicWrite): Promise<BigIntStats> {
  const { content, signal, release } = write
  const temporary = await namingFailure(write.instance.createTemporaryFile())
  try {
    await writeContent(temporary.handle, abortable(content, signal), release)
    const stats = await namingFailure(seal(temporary.handle))
    signal?.throwIfAborted()
    await publish(temporary.path, write)
    step('name-synced')
    return stats
  } catch (error) {
    await discard(temporary, write.instance)
    throw error
  }
}

/**
 * Makes the content durable and closes the file. A sync that failed is final: the kernel has dropped the pages it could
 * not write, so that a second one would succeed without them.
 */
async function seal(handle: FileHandle): Promise<BigIntStats> {
  const time = nextModificationTime()
  await handle.utimes(time, time)
  await handle.sync()
  step('content-synced')
  const stats = await handle.stat({ bigint: true })
  await handle.close()
  step('temporary-closed')
  return stats
}

async function publish(path: string, write: AtomicWrite): Promise<void> {
  const { directories, target, signal } = write
  const directory = dirname(target)
  await namingFailure(directories.ensure(directory))
  signal?.throwIfAborted()
  const giveName = () => changeDurably(directory, () => nameIt(path, write))
  try {
    await namingFailure(giveName())
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error
    // Somebody removed the customer's directory by hand, or more.
    directories.forget()
    await namingFailure(directories.ensure(directory))
    await namingFailure(giveName())
  }
}

async function nameIt(path: string, { instance, target, createOnly }: AtomicWrite): Promise<void> {
  if (!createOnly) return renameTo(path, target)
  await linkAs(path, target)
  // The file has its name and is not in danger any more, whatever becomes of the second one.
  await instance.remove(path)
  step('second-name-removed')
}

async function renameTo(path: string, target: string): Promise<void> {
  await rename(path, target)
  step('named')
}

/** Unlike a rename, a link never replaces what is there. */
async function linkAs(path: string, target: string): Promise<void> {
  try {
    await link(path, target)
    step('named')
  } catch (cause) {
    if (!isSystemError(cause, 'EEXIST')) throw cause
    throw new FileServiceError('already-exists', 'The name is taken', { cause })
  }
}

/** Never throws: the failure that led here is the one to be told. */
async function discard({ handle, path }: TemporaryFile, instance: Instance): Promise<void> {
  await handle.close().catch(() => {})
  await instance.remove(path)
  step('discarded')
}
