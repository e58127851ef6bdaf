import type { BigIntStats } from 'node:fs'
import { link, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { abortable, FileServiceError } from '@holdfast/core'
import type { DurableDirectories } from './durable-directories.ts'
import { noticingFullDisk } from './full-disk.ts'
import type { Instance, TemporaryFile } from './instance.ts'
import { nextModificationTime } from './modification-time.ts'
import { step } from './step.ts'
import { syncDirectory } from './sync-directory.ts'
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
 * fails, the temporary file is removed and that very error thrown; `insufficient-storage` stands for a full disk.
 */
export async function atomicWrite(write: AtomicWrite): Promise<BigIntStats> {
  const { target, content, signal, release } = write
  const temporary = await noticingFullDisk(write.instance.createTemporaryFile())
  try {
    await writeContent(temporary.handle, abortable(content, signal), release)
    const stats = await seal(temporary.handle)
    signal?.throwIfAborted()
    await noticingFullDisk(publish(temporary.path, write))
    await noticingFullDisk(syncDirectory(dirname(target)))
    step('name-synced')
    return stats
  } catch (error) {
    await discard(temporary)
    throw error
  }
}

/**
 * Makes the content durable and closes the file. A sync that failed is final: the kernel has dropped the pages it could
 * not write, so that a second one would succeed without them.
 */
async function seal(handle: FileHandle): Promise<BigIntStats> {
  const time = nextModificationTime()
  await noticingFullDisk(handle.utimes(time, time))
  await noticingFullDisk(handle.sync())
  step('content-synced')
  const stats = await handle.stat({ bigint: true })
  await noticingFullDisk(handle.close())
  step('temporary-closed')
  return stats
}

async function publish(path: string, write: AtomicWrite): Promise<void> {
  const { directories, target, createOnly, signal } = write
  const giveName = createOnly ? linkAs : renameTo
  await directories.ensure(dirname(target))
  signal?.throwIfAborted()
  try {
    await giveName(path, target)
  } catch (error) {
    if (!isSystemError(error, 'ENOENT')) throw error
    // Somebody removed the customer's directory by hand.
    directories.forget()
    await directories.ensure(dirname(target))
    await giveName(path, target)
  }
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
  // The file has its name and is not in danger any more; a second name left behind goes when the store is closed.
  await rm(path, { force: true }).catch(() => {})
  step('second-name-removed')
}

/** Never throws: the failure that led here is the one to be told. */
async function discard({ handle, path }: TemporaryFile): Promise<void> {
  await handle.close().catch(() => {})
  await rm(path, { force: true }).catch(() => {})
  step('discarded')
}
