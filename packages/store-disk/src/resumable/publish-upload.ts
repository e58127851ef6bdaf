import { join, dirname } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import {
  type BlobInfo,
  nameTaken,
  type KeepOptions,
  requireComplete,
  type UploadKey,
  uploadTakenOver,
  type BlobKey,
} from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  blobInfo,
  fileStats,
  isAbsence,
  isSystemError,
  undefinedIfAbsent,
} from '../files/file-calls.ts'
import { noPreparation, publishFile, type Publication } from '../write/publish-file.ts'
import { trim, preparePublication } from './append-to-upload.ts'
import { findUpload, forgetOldest, uploadDirectory } from './find-upload.ts'
import { takeUpload, type TakenUpload } from './upload-lease.ts'
import { placeRecord } from './upload-record.ts'
import { type UploadSite, publishedName, recordName } from './upload-site.ts'

/**
 * Makes the content of an upload a blob. No other work of this process may use the upload. It records the future blob first: once the
 * content has left the upload's directory, it has become that blob, whatever has happened to the blob since.
 */
export async function publishUpload(
  site: UploadSite,
  key: UploadKey,
  { keepReplaced }: KeepOptions = {},
): Promise<BlobInfo> {
  const taken = await takeUpload(site, key)
  if (!taken.lease) return finishPublication(site, taken.found)
  const { found, lease } = taken
  try {
    const { plan } = found.record
    requireComplete({ ...found, plan })
    const target = site.layout.blobPath({ customer: key.customer, name: plan.name })
    const createOnly = plan.createOnly === true
    if (createOnly && (await fileStats(target, site.calls))) {
      throw nameTaken()
    }
    await lease.unshare()
    const published = (await prepared(site, taken, target)) ?? (await prepare(site, taken))
    const changing = beforeChanging(site, { customer: key.customer, name: plan.name }, keepReplaced)
    const publication = { ...site, target, createOnly, signal: undefined, ...changing }
    const inode = createOnly ? (await site.calls.lstat(lease.path())).ino : undefined
    if (inode !== undefined) await noteLink(site, key, inode)
    await publishFile(lease.path(), publication)
    crashPoint('name-synced')
    await finishPublication(site, { directory: lease.directory, published })
    if (inode !== undefined) await forgetLink(site, lease.directory, inode)
    await forgetOldest(site, key.customer, { id: key.id, link: plan.link, changedAt: Date.now() })
    return published
  } catch (error) {
    await lease.release()
    throw isAbsence(error) ? uploadTakenOver() : error
  }
}

/** How long the time that the last piece has set may serve as the blob's time, in milliseconds. */
const longestPreparation = 10_000

/** What the last piece has prepared; `undefined` if the content has changed since, or that was long ago. */
async function prepared(
  { calls }: UploadSite,
  { found, lease }: TakenUpload,
  target: string,
): Promise<BlobInfo | undefined> {
  const { plan, publishing } = found.record
  if (!publishing) return undefined
  const stats = await calls.lstat(lease.path())
  const published = blobInfo(plan.name, stats)
  if (published.etag !== publishing.etag) return undefined
  if (Math.abs(Date.now() - published.modifiedAt.getTime()) > longestPreparation) return undefined
  // The time of a blob must never go back: a client may compare it.
  const replaced = await fileStats(target, calls)
  return replaced && replaced.mtimeNs >= stats.mtimeNs ? undefined : published
}

async function prepare(site: UploadSite, { found, lease }: TakenUpload): Promise<BlobInfo> {
  const { calls } = site
  const file = await calls.open(lease.path(), 'r+')
  try {
    await trim(file, found.offset, calls)
    const { published, record } = await preparePublication(site, file, found.record.plan)
    if (record.status === 'rejected') throw record.reason
    await placeRecord(lease.directory, record.value, site)
    return published
  } finally {
    await calls.close(file)
  }
}

interface Finished {
  readonly directory: string
  readonly published?: BlobInfo
  readonly content?: { readonly path: string }
}

/** Records that the blob is durable, and syncs the directory that its content has left. */
export async function finishPublication(
  site: UploadSite,
  { directory, published, content }: Finished,
): Promise<BlobInfo> {
  const { calls } = site
  if (!published) throw new Error(`${directory} has no content`)
  const inode = content && (await fileStats(content.path, calls))?.ino
  const note = async () => {
    // A blob that was linked still has this second name.
    if (content) await calls.unlink(content.path)
    await calls.rename(join(directory, recordName), join(directory, publishedName))
  }
  await changeDurably(directory, note, calls).catch((error: unknown) => {
    // It was recorded before.
    if (!isAbsence(error)) throw error
  })
  crashPoint('upload-published')
  if (inode !== undefined) await forgetLink(site, directory, inode)
  return published
}

/** What must be done before a file becomes the blob `key`, and before it replaces another one there. */
export function beforeChanging(
  site: UploadSite,
  key: BlobKey,
  keepReplaced = false,
): Pick<Publication, 'beforeReplacing' | 'beforeNaming'> {
  return {
    beforeReplacing: () => beforeTaking(site, key, keepReplaced),
    beforeNaming: keepReplaced
      ? (path) => site.versionNames.give(key, path)
      : noPreparation.beforeNaming,
  }
}

/** What must be done before the name of a blob is taken from its file, which has these stats. Default: look them up. */
export async function beforeTaking(
  site: UploadSite,
  key: BlobKey,
  keepReplaced = false,
  known?: BigIntStats,
): Promise<void> {
  const path = site.layout.blobPath(key)
  const stats = known ?? (await fileStats(path, site.calls))
  if (!stats) return
  await finishLinked(site, key, stats)
  if (keepReplaced) await site.versionNames.ensure(key, path, stats)
  // It may have got its version name while the customer's files were kept: it would stay for ever.
  else if (stats.nlink > 1n && (await fileStats(path, site.calls))?.ino === stats.ino) {
    await site.versionNames.take(key, stats)
  }
}

/**
 * Finishes the publication that gave a blob its name, if its process ended before it removed the content from the upload. Call it before
 * the blob is removed or replaced: only the name shows that the upload is published, and without it the next request would publish the
 * upload again. A note of the file's number says which upload that is.
 */
export async function finishLinked(
  site: UploadSite,
  { customer, name }: BlobKey,
  { ino, nlink }: BigIntStats,
): Promise<void> {
  // A file with one name has left its upload.
  if (nlink < 2n) return
  const id = await findLinked(site, customer, ino)
  const found = id === undefined ? undefined : await findUpload(site, { customer, id })
  if (!found?.published || !found.content || found.record.plan.name !== name) return
  await finishPublication(site, found)
}

/**
 * A create-only publication links the content of an upload to the name of its blob, and then removes its name in the upload. In between,
 * only the number of its inode shows that the blob is the upload's. A note beside the uploads of the customer, called after that number,
 * says which upload it is: a symbolic link whose target is the id.
 */
const linkNoteSuffix = '.linked'

const linkNoteAt = (uploads: string, inode: bigint) => join(uploads, `${inode}${linkNoteSuffix}`)

/** Whether an entry beside the uploads of a customer is a note. */
export function isLinkNote(entry: string): boolean {
  return entry.endsWith(linkNoteSuffix)
}

/** Notes, durably, that the content of number `inode` is about to be linked. */
async function noteLink(site: UploadSite, key: UploadKey, inode: bigint): Promise<void> {
  const { calls } = site
  const uploads = dirname(uploadDirectory(site, key))
  const note = linkNoteAt(uploads, inode)
  const make = async () => {
    try {
      await calls.symlink(key.id, note)
    } catch (error) {
      if (!isSystemError(error, 'EEXIST')) throw error
      // A crash has left it, of this upload or of an earlier file with this number.
      await calls.unlink(note)
      await calls.symlink(key.id, note)
    }
    crashPoint('upload-link-noted')
  }
  await changeDurably(uploads, make, calls)
}

/** Removes the note of an upload in `directory`. One that stays only costs a look, until a sweep removes it. */
async function forgetLink(
  { tempDirectory }: Pick<UploadSite, 'tempDirectory'>,
  directory: string,
  inode: bigint,
): Promise<void> {
  await tempDirectory.remove(linkNoteAt(dirname(directory), inode))
}

/** The id of the upload whose content, of number `inode`, was about to be linked; `undefined` if no note says that. */
async function findLinked(
  { uploads }: Pick<UploadSite, 'uploads'>,
  customer: string,
  inode: bigint,
): Promise<string | undefined> {
  return readNote(linkNoteAt(uploads.customerDirectory(customer), inode))
}

async function readNote(path: string): Promise<string | undefined> {
  return readlink(path).catch(undefinedIfAbsent)
}

/** Removes a customer's notes whose upload is gone or has no content any more. */
export async function sweepLinkNotes(site: UploadSite, customer: string): Promise<void> {
  const directory = site.uploads.customerDirectory(customer)
  for (const entry of (await readdir(directory).catch(noneIfAbsent)).filter(isLinkNote)) {
    const id = await readNote(join(directory, entry))
    const found = id === undefined ? undefined : await findUpload(site, { customer, id })
    if (!found?.content) await site.tempDirectory.remove(join(directory, entry))
  }
}

function noneIfAbsent(error: unknown): string[] {
  if (isAbsence(error)) return []
  throw error
}
