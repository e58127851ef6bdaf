import { setTimeout as delay } from 'node:timers/promises'
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { uploadConflict, type UploadKey, uploadNotFound } from '@holdfast/core'
import { isAbsence } from '../files/translate-fs-error.ts'
import {
  identifyProcess,
  type ProcessIdentity,
  hasEnded,
  parseTempDirectoryName,
} from '../temp/temp-owner.ts'
import { findUpload, hasExpired, type ContentFile, type FoundUpload } from './find-upload.ts'
import { askForContent, takeContent, withdraw, type UploadLease } from './upload-lease.ts'
import type { UploadSite } from './upload-site.ts'

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
