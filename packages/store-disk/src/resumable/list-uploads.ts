import type { Dir } from 'node:fs'
import { opendir } from 'node:fs/promises'
import type { UploadKey, PublishedUpload } from '@holdfast/core'
import { isAbsence } from '../files/translate-fs-error.ts'
import { findUpload, isUploadId, type FoundUpload, uploadDirectory } from './find-upload.ts'
import type { UploadSite } from './upload-site.ts'
import { forgetUpload } from './remove-upload.ts'

/** Uploads looked at at a time, which become a page. */
const batchLength = 64

export interface ListedUpload {
  readonly key: UploadKey
  readonly found: FoundUpload
}

/** The uploads of `customer`, published and expired ones too, in no order, in batches. */
export function findUploads(
  site: UploadSite,
  customer: string,
): AsyncGenerator<readonly ListedUpload[]> {
  return find(site, customer, () => true)
}

/** Those of {@link findUploads} that are not known to be published, with nothing left to do. */
export async function* findOpenUploads(
  site: UploadSite,
  customer: string,
): AsyncGenerator<readonly ListedUpload[]> {
  for await (const batch of find(site, customer, (id) => !site.published.has(id))) {
    await notePublished(site, batch)
    yield batch
  }
}

/** Notes which uploads of `batch` are published, with nothing left to do. */
export async function notePublished(
  site: UploadSite,
  batch: readonly ListedUpload[],
): Promise<void> {
  // Before any is forgotten: that one would be noted once more.
  const unknown = batch.filter(({ key }) => !site.published.has(key.id))
  for (const { key, found } of unknown) {
    const { published, content, expiresAt, record } = found
    if (!published || content) continue
    const { link, expiresAfterMs } = record.plan
    const changedAt = expiresAt - expiresAfterMs
    await forgetOldest(site, key.customer, { id: key.id, link, changedAt })
  }
}

async function* find(
  site: UploadSite,
  customer: string,
  isWanted: (id: string) => boolean,
): AsyncGenerator<readonly ListedUpload[]> {
  for await (const found of idsIn(site.uploads.customerDirectory(customer))) {
    const ids = found.filter(isWanted)
    const looks = ids.map(async (id) => {
      const key = { customer, id }
      const found = await findUpload(site, key)
      return found ? [{ key, found }] : []
    })
    yield (await Promise.all(looks)).flat()
  }
}

async function* idsIn(directory: string): AsyncGenerator<readonly string[]> {
  const opened = await openIfThere(directory)
  if (!opened) return
  let ids: string[] = []
  // Its iterator closes the directory.
  for await (const { name } of opened) {
    if (!isUploadId(name)) continue
    ids.push(name)
    if (ids.length < batchLength) continue
    yield ids
    ids = []
  }
  if (ids.length > 0) yield ids
}

async function openIfThere(directory: string): Promise<Dir | undefined> {
  try {
    return await opendir(directory, { bufferSize: 1024 })
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Notes a published upload, and forgets the oldest of such if there are too many. Never rejects: the next sweep finds what stays. */
export async function forgetOldest(
  site: UploadSite,
  customer: string,
  upload: PublishedUpload,
): Promise<void> {
  for (const id of site.published.add(customer, upload)) {
    await forgetUpload(site, uploadDirectory(site, { customer, id })).catch(() => {})
  }
}
