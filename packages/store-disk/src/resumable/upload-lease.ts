import { copyFile, open, unlink, stat } from 'node:fs/promises'
import { constants } from 'node:fs'
import { basename, join, dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { uploadNotFound, uploadTakenOver, uploadConflict, type UploadKey } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { lastFailedSync, isAbsence } from '../files/file-calls.ts'
import {
  identifyProcess,
  type ProcessIdentity,
  hasEnded,
  parseTempDirectoryName,
} from '../temp/temp-owner.ts'
import { type ContentFile, type FoundUpload, findUpload, hasExpired } from './find-upload.ts'
import {
  formatContentName,
  parseContentName,
  type ContentName,
  wantedName,
  type UploadSite,
} from './upload-site.ts'

/** Milliseconds that a live owner on another machine or in another container has to end: it looks once a second, and then syncs. */
const patience = 10_000

/** Milliseconds between two checks whether it has ended. */
const pause = 50

export type Unpublished = FoundUpload & { readonly content: ContentFile }

export interface TakenUpload {
  readonly found: Unpublished
  readonly lease: UploadLease
}

/**
 * Takes the content of the upload `key`: asks its owner to stop, and waits until it has. Resolves without a lease if the upload is
 * published.
 *
 * @throws FileServiceError `upload-not-found`; `upload-conflict` if the owner does not stop
 */
export async function takeUpload(
  site: UploadSite,
  key: UploadKey,
): Promise<TakenUpload | { readonly found: FoundUpload; readonly lease?: undefined }> {
  for (;;) {
    const { found, verdict } = await awaitOwner(site, key)
    const { content } = found
    if (!content || found.published) return { found }
    const unpublished = { ...found, content }
    const lease = await takeContent(site, unpublished, verdict === 'silent')
    if (lease) return { found: unpublished, lease }
  }
}

/** Asks a live owner on another machine or in another container to stop, and resolves when no live process owns the content. */
export async function awaitOwner(site: UploadSite, key: UploadKey) {
  const end = performance.now() + patience
  let asked: string | undefined
  try {
    for (;;) {
      const found = await requireUpload(site, key)
      const owner = found.content?.name.owner
      const verdict = owner === undefined ? 'gone' : await judgeOwner(owner, site)
      if (verdict !== 'alive') return { found, verdict }
      if (performance.now() > end) {
        throw uploadConflict('Another process writes the upload, and does not end')
      }
      asked = found.directory
      // A process that took the content meanwhile has withdrawn the request.
      if (!found.isWanted) await ask(found.directory)
      await delay(pause)
    }
  } finally {
    if (asked !== undefined) await withdraw(asked)
  }
}

async function ask(directory: string): Promise<void> {
  await askForContent(directory).catch((error: unknown) => {
    if (!isAbsence(error)) throw error
  })
}

/** The upload `key`. @throws FileServiceError `upload-not-found` if there is none, or it has expired */
export async function requireUpload(site: UploadSite, key: UploadKey): Promise<FoundUpload> {
  const found = await findUpload(site, key)
  if (found && !(await isOver(site, found, Date.now()))) return found
  await site.checkMount()
  throw uploadNotFound()
}

/** Whether the upload has expired at `now`, and no live process writes it. */
export async function isOver(site: UploadSite, found: FoundUpload, now: number): Promise<boolean> {
  if (!hasExpired(found, now)) return false
  const owner = found.content?.name.owner
  return owner === undefined || (await judgeOwner(owner, site)) !== 'alive'
}

/**
 * The state of the owner of an upload's content. `gone`: the process has certainly ended, and has no file open. `silent`: it cannot be
 * looked up from here, and gives no sign of life, but may come back. `alive`: anything else.
 */
type OwnerVerdict = 'gone' | 'silent' | 'alive'

/** An owner without a heartbeat for so many milliseconds is silent; one comes every 20 seconds. */
const silence = 60 * 1000

let self: ProcessIdentity | undefined

/** Judges `owner`, the name of the owner's directory in `tmp`. */
export async function judgeOwner(
  owner: string,
  { tempDirectory, isLocal }: Pick<UploadSite, 'tempDirectory' | 'isLocal'>,
): Promise<OwnerVerdict> {
  if (owner === basename(tempDirectory.path)) return 'gone'
  const identity = parseTempDirectoryName(owner)
  if (!identity) return 'silent'
  self ??= identifyProcess()
  const ended = hasEnded(identity, self, isLocal)
  if (ended !== undefined) return ended ? 'gone' : 'alive'
  const heartbeat = await lastHeartbeat(join(dirname(tempDirectory.path), owner))
  return Date.now() - heartbeat > silence ? 'silent' : 'alive'
}

async function lastHeartbeat(directory: string): Promise<number> {
  try {
    return (await stat(directory)).mtimeMs
  } catch (error) {
    if (isAbsence(error)) return 0
    throw error
  }
}

/** This store's hold on the content of an upload. Other processes see it in the content's name, and leave the content alone. */
export interface UploadLease {
  readonly directory: string
  /** Where the content is now. */
  path(): string
  /** How many bytes count. */
  offset(): number
  /** The names that the content may have at this moment. */
  names(): readonly string[]
  /**
   * Records durably that the first `offset` bytes, which are synced, count. Calls `along` while the content is in the directory; its
   * changes there become durable in the same step. @throws `upload-conflict`
   */
  acknowledge(offset: number, along?: () => Promise<void>): Promise<void>
  /** Makes sure that no other process has the file open. */
  unshare(): Promise<void>
  /** Releases the content; never fails. */
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
    // A failed sync may have dropped the earlier name, and no later sync writes it. This rename is a new change.
    await (lastFailedSync() ? changeDurably(directory, take, calls) : take())
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
  crashPoint('upload-taken')
  // The request was for the owner before; a process that still waits asks again.
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

/** Replaces the file at `path` by a copy of its first `size` bytes, which later writes to the old file do not reach. */
async function replaceByCopy(site: UploadSite, path: string, size: number): Promise<void> {
  const { calls, tempDirectory } = site
  const temporary = await tempDirectory.createTemporaryFile()
  try {
    // Shares the blocks where the file system can do that.
    await copyFile(path, temporary.path, constants.COPYFILE_FICLONE)
    const copied = await calls.stat(temporary.file)
    // A longer truncation would fill what is lost with zeros.
    if (copied.size < size) throw new Error(`${copied.size} of ${size} bytes of an upload are left`)
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

/** Fails if this process was silent while it copied, so that another one has taken the content and continues it. */
async function requireOnlyContent({ calls }: UploadSite, directory: string, path: string) {
  const entries = await calls.readdir(directory).catch((error: unknown) => {
    throw isAbsence(error) ? uploadTakenOver() : error
  })
  const contents = entries.filter((entry) => parseContentName(entry))
  if (contents.length === 1) return
  await calls.unlink(path)
  throw uploadTakenOver()
}

/** Asks the owner of the content, a live process, to stop. */
async function askForContent(directory: string): Promise<void> {
  const file = await open(join(directory, wantedName), 'a', 0o640)
  await file.close()
}

/** Withdraws the request of {@link askForContent}. */
async function withdraw(directory: string): Promise<void> {
  await unlink(join(directory, wantedName)).catch(() => {})
}

/** Milliseconds between two checks for requests of other processes. */
const checkInterval = 1000

/** The contents that this store writes now. */
export interface WatchedLeases {
  /** Runs `work`; its signal aborts when another process wants the content, or has it. */
  watch<T>(lease: UploadLease, work: (wanted: AbortSignal) => Promise<T>): Promise<T>
}

/** Makes the watcher, which runs one timer while anything is written, and none otherwise. */
export function createWatchedLeases({ calls }: Pick<UploadSite, 'calls'>): WatchedLeases {
  const watched = new Map<UploadLease, AbortController>()
  let timer: NodeJS.Timeout | undefined

  const look = async (lease: UploadLease, controller: AbortController) => {
    const names = lease.names()
    try {
      const entries = await calls.readdir(lease.directory)
      const isHere = [...names, ...lease.names()].some((name) => entries.includes(name))
      if (!isHere || entries.includes(wantedName)) controller.abort(uploadTakenOver())
    } catch (error) {
      if (isAbsence(error)) controller.abort(uploadNotFound())
    }
  }

  const lookAtAll = () => {
    for (const [lease, controller] of watched) void look(lease, controller)
  }

  return {
    async watch(lease, work) {
      const controller = new AbortController()
      watched.set(lease, controller)
      timer ??= setInterval(lookAtAll, checkInterval).unref()
      try {
        return await work(controller.signal)
      } finally {
        watched.delete(lease)
        if (watched.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
      }
    },
  }
}
