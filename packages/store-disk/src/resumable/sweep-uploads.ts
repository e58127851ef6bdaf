import { type UploadTurns } from '@holdfast/core'
import { findCustomers } from '../list/find-blobs.ts'
import { withEntries } from '../list/directory-entries.ts'
import { hasExpired, type FoundUpload } from './find-upload.ts'
import { judgeOwner } from './take-upload.ts'
import { findUploads, notePublished, type ListedUpload } from './list-uploads.ts'
import { finishPublication } from './publish-upload.ts'
import { removeUpload } from './remove-upload.ts'
import { takeContent } from './upload-lease.ts'
import type { UploadSite } from './upload-site.ts'

/** Uploads removed at a time, which share the syncs of their directory. */
const concurrency = 16

/**
 * Removes the uploads of all customers that have expired by `now`; resolves to how many of them were unfinished. Finishes
 * publications that broke off.
 */
export async function sweepUploads(
  site: UploadSite,
  turns: UploadTurns,
  now: number,
): Promise<number> {
  const customers = await withEntries((entriesOf) => findCustomers(site.uploads, entriesOf))
  let removed = 0
  for (const customer of customers) {
    for await (const batch of findUploads(site, customer)) {
      const swept = batch.filter(({ found }) => hasExpired(found, now) || isLinked(found)).values()
      const worker = async () => {
        for (const upload of swept) {
          const { directory } = upload.found
          if (turns.isRunning(directory)) continue
          if (await turns.run(directory, () => sweepOne(site, upload, now))) removed++
        }
      }
      await Promise.all(Array.from({ length: concurrency }, worker))
      await notePublished(
        site,
        batch.filter(({ found }) => !hasExpired(found, now)),
      )
    }
  }
  return removed
}

/** Whether the content of a published upload still has its name here, which would keep its bytes when the file is deleted. */
function isLinked({ published, content }: FoundUpload): boolean {
  return published !== undefined && content !== undefined
}

/** Removes one that has expired, or finishes its publication; whether it was unfinished and is gone. */
async function sweepOne(site: UploadSite, { found }: ListedUpload, now: number): Promise<boolean> {
  const { content, directory, record } = found
  if (!content || (found.published && hasExpired(found, now))) {
    await removeUpload(site, directory)
    return false
  }
  const { owner } = content.name
  const verdict = owner === undefined ? 'gone' : await judgeOwner(owner, site)
  if (verdict === 'alive') return false
  if (found.published) {
    // A process that is silent may come back and finish it by itself.
    if (verdict === 'gone') await finishPublication(site, found)
    return false
  }
  // From now on no process can take it; one that had it since it was found has changed it.
  const lease = await takeContent(site, { ...found, content }, verdict === 'silent')
  if (!lease) return false
  const { mtimeNs } = await site.calls.lstat(lease.path())
  if (Number(mtimeNs) / 1e6 + record.plan.expiresAfterMs <= now) {
    return removeUpload(site, directory)
  }
  await lease.release()
  return false
}
