import {
  type BlobInfo,
  FileServiceError,
  requireComplete,
  type UploadKey,
  uploadTakenOver,
} from '@holdfast/core'
import { blobInfo, fileStats } from '../files/blob-file.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isAbsence } from '../files/system-error.ts'
import { publishFile } from '../write/publish-file.ts'
import { finishLinked } from './finish-linked.ts'
import { forgetOldest } from './forget-oldest.ts'
import { finishPublication } from './finish-publication.ts'
import { trim } from './append-to-upload.ts'
import { preparePublication } from './prepare-publication.ts'
import { placeRecord } from './record-file.ts'
import { takeUpload, type TakenUpload } from './take-upload.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * Makes the content of an upload, which no other work of this process uses, a blob. What the blob will be is recorded first: once the
 * content is not in the upload's directory any more, it has become that blob, whatever has come of the blob since.
 */
export async function publishUpload(site: UploadSite, key: UploadKey): Promise<BlobInfo> {
  const taken = await takeUpload(site, key)
  if (!taken.lease) return finishPublication(site, taken.found)
  const { found, lease } = taken
  try {
    const { plan } = found.record
    requireComplete({ ...found, plan })
    const target = site.layout.blobPath({ customer: key.customer, name: plan.name })
    const createOnly = plan.createOnly === true
    if (createOnly && (await fileStats(target, site.calls))) {
      throw new FileServiceError('already-exists', 'The name is taken')
    }
    await lease.unshare()
    const published = (await prepared(site, taken, target)) ?? (await prepare(site, taken))
    const beforeReplacing = () => finishLinked(site, { customer: key.customer, name: plan.name })
    const publication = { ...site, target, createOnly, signal: undefined, beforeReplacing }
    await publishFile(lease.path(), publication)
    crashPoint('name-synced')
    await finishPublication(site, { directory: lease.directory, published })
    await forgetOldest(site, key.customer, { id: key.id, link: plan.link, changedAt: Date.now() })
    return published
  } catch (error) {
    await lease.release()
    throw isAbsence(error) ? uploadTakenOver() : error
  }
}

/** How long after the last piece its time may be that of the blob, in milliseconds. */
const longestPreparation = 10_000

/** What the last piece has prepared, unless the content has changed since, or that was long ago. */
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
  // The time of a file never goes back where a client may compare it.
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
