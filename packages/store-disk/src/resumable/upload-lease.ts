import { uploadNotFound, uploadTakenOver } from '@holdfast/core'
import { copyFile, open, unlink } from 'node:fs/promises'
import { constants } from 'node:fs'
import { basename, join } from 'node:path'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { lastFailedSync } from '../files/file-calls.ts'
import { isAbsence } from '../files/system-error.ts'
import { formatContentName, parseContentName, type ContentName } from './content-name.ts'
import type { ContentFile, FoundUpload } from './find-upload.ts'
import { wantedName, type UploadSite } from './upload-site.ts'

/** The content of an upload in the hands of this store: others find its name, and leave it alone. */
export interface UploadLease {
  readonly directory: string
  /** Where the content is now. */
  path(): string
  /** How many bytes count. */
  offset(): number
  /** The names that the content may have at this moment. */
  names(): readonly string[]
  /**
   * Resolves when `offset` bytes of the content, which have been synced, count durably, and so does what `along` changes in the
   * directory; it is called while the content is here. @throws `upload-conflict`
   */
  acknowledge(offset: number, along?: () => Promise<void>): Promise<void>
  /** Makes sure that no one else has the file open. */
  unshare(): Promise<void>
  /** Gives the content back; never fails. */
  release(): Promise<void>
}

/** Takes the content of `found`, whose owner has ended; `undefined` if another process was faster. */
export async function takeContent(
  site: UploadSite,
  found: FoundUpload & { readonly content: ContentFile },
  isShared: boolean,
): Promise<UploadLease | undefined> {
  const { calls, tempDirectory } = site
  const { directory, content, offset } = found
  const owner = basename(tempDirectory.path)
  const taken = { offset, owner, isShared: isShared || content.name.isShared }
  const take = async () => calls.rename(content.path, join(directory, formatContentName(taken)))
  try {
    // A sync that failed may have dropped the earlier name, and no later sync writes that. This is a new change.
    await (lastFailedSync() ? changeDurably(directory, take, calls) : take())
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
  crashPoint('upload-taken')
  // It was meant for the one before; whoever waits asks again.
  if (found.isWanted) await withdraw(directory)
  return createLease(site, directory, taken)
}

function createLease(site: UploadSite, directory: string, taken: ContentName): UploadLease {
  const { calls } = site
  let name = taken
  let next = taken
  const pathOf = (one: ContentName) => join(directory, formatContentName(one))

  const rename = async (to: ContentName) => {
    next = to
    try {
      await calls.rename(pathOf(name), pathOf(to))
      name = to
    } catch (error) {
      next = name
      throw isAbsence(error) ? uploadTakenOver() : error
    }
  }

  return {
    directory,
    path: () => pathOf(name),
    offset: () => name.pending ?? name.offset,
    names: () => [name, next].map(formatContentName),

    async acknowledge(offset, along = async () => {}) {
      const { pending, ...before } = name
      const durable = { ...before, offset: pending ?? before.offset }
      const change = async () => {
        await rename({ ...durable, pending: offset })
        crashPoint('upload-offset-named')
        await along()
      }
      try {
        await changeDurably(directory, change, calls)
      } catch (error) {
        if (name.pending === offset) await rename(durable).catch(() => {})
        if (!isAbsence(error)) throw error
        // Another process has removed the directory: the upload was discarded.
        await site.checkMount()
        throw uploadNotFound()
      }
      crashPoint('upload-offset-synced')
    },

    async unshare() {
      if (!name.isShared) return
      await replaceByCopy(site, pathOf(name), name.pending ?? name.offset)
      await rename({ ...name, isShared: false })
      await requireOnlyContent(site, directory, pathOf(name))
      crashPoint('upload-copy-named')
    },

    async release() {
      const { offset, pending = offset, isShared } = name
      await rename({ offset: pending, isShared }).catch(() => {})
      crashPoint('upload-released')
    },
  }
}

/** Puts a copy of the first `size` bytes in place of the file at `path`: writes to that reach the copy no more. */
async function replaceByCopy(site: UploadSite, path: string, size: number): Promise<void> {
  const { calls, tempDirectory } = site
  const temporary = await tempDirectory.createTemporaryFile()
  try {
    // Shares the blocks where the file system can do that.
    await copyFile(path, temporary.path, constants.COPYFILE_FICLONE)
    await calls.truncate(temporary.file, size)
    await calls.sync(temporary.file)
    crashPoint('upload-copied')
    await calls.rename(temporary.path, path)
  } catch (error) {
    await tempDirectory.remove(temporary.path)
    throw isAbsence(error) ? uploadTakenOver() : error
  } finally {
    await calls.close(temporary.file)
  }
}

/** If this process was silent while it copied, another one has taken the content from it, and goes on with that. */
async function requireOnlyContent({ calls }: UploadSite, directory: string, path: string) {
  const entries = await calls.readdir(directory).catch((error: unknown) => {
    throw isAbsence(error) ? uploadTakenOver() : error
  })
  const contents = entries.filter((entry) => parseContentName(entry))
  if (contents.length === 1) return
  await calls.unlink(path)
  throw uploadTakenOver()
}

/** Asks the owner of the content, a process that is alive, to end. */
export async function askForContent(directory: string): Promise<void> {
  const file = await open(join(directory, wantedName), 'a', 0o640)
  await file.close()
}

/** Takes back what {@link askForContent} has left. */
export async function withdraw(directory: string): Promise<void> {
  await unlink(join(directory, wantedName)).catch(() => {})
}
