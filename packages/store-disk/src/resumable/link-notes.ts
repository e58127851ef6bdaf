import { readdir, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UploadKey } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isAbsence, isSystemError } from '../files/translate-fs-error.ts'
import { findUpload, uploadDirectory } from './find-upload.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * A create-only publication links the content of an upload to the name of its blob, and then removes its name in the upload. In between,
 * only the number of its inode shows that the blob is the upload's. A note beside the uploads of the customer, called after that number,
 * says which upload it is: a symbolic link whose target is the id.
 */
const suffix = '.linked'

const noteAt = (uploads: string, inode: bigint) => join(uploads, `${inode}${suffix}`)

/** Whether an entry beside the uploads of a customer is a note. */
export function isLinkNote(entry: string): boolean {
  return entry.endsWith(suffix)
}

/** Notes, durably, that the content of number `inode` is about to be linked. */
export async function noteLink(site: UploadSite, key: UploadKey, inode: bigint): Promise<void> {
  const { calls } = site
  const uploads = dirname(uploadDirectory(site, key))
  const note = noteAt(uploads, inode)
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
export async function forgetLink(
  { tempDirectory }: Pick<UploadSite, 'tempDirectory'>,
  directory: string,
  inode: bigint,
): Promise<void> {
  await tempDirectory.remove(noteAt(dirname(directory), inode))
}

/** The id of the upload whose content, of number `inode`, was about to be linked; `undefined` if no note says that. */
export async function findLinked(
  { uploads }: Pick<UploadSite, 'uploads'>,
  customer: string,
  inode: bigint,
): Promise<string | undefined> {
  return readNote(noteAt(uploads.customerDirectory(customer), inode))
}

async function readNote(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Removes the notes of a customer whose uploads have left their content, or are gone. */
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
