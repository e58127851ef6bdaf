import { type UploadTurns } from '@holdfast/core'
import { findCustomers } from '../list/find-blobs.ts'
import { withEntries } from '../list/directory-entries.ts'
import { hasExpired } from './find-upload.ts'
import { judgeOwner } from './judge-owner.ts'
import { findUploads, type ListedUpload } from './list-uploads.ts'
import { removeUpload } from './remove-upload.ts'
import { takeContent } from './upload-lease.ts'
import type { UploadSite } from './upload-site.ts'

/** Uploads removed at a time, which share the syncs of their directory. */
const concurrency = 16

/** Removes the uploads of all customers that have expired by `now`; resolves to how many of them were unfinished. */
export async function sweepUploads(
  site: UploadSite,
  turns: UploadTurns,
  now: number,
): Promise<number> {
  const customers = await withEntries((entriesOf) => findCustomers(site.uploads, entriesOf))
  let removed = 0
  for (const customer of customers) {
    for await (const batch of findUploads(site, customer)) {
      const expired = batch.filter(({ found }) => hasExpired(found, now)).values()
      const worker = async () => {
        for (const upload of expired) {
          const { directory } = upload.found
          if (turns.isRunning(directory)) continue
          if (await turns.run(directory, () => sweepOne(site, upload, now))) removed++
        }
      }
      await Promise.all(Array.from({ length: concurrency }, worker))
    }
  }
  return removed
}

/** Removes one that has expired; whether it was unfinished and is gone. */
async function sweepOne(site: UploadSite, { found }: ListedUpload, now: number): Promise<boolean> {
  const { content, directory, record } = found
  if (!content || found.published) {
    await removeUpload(site, directory)
    return false
  }
  const { owner } = content.name
  const verdict = owner === undefined ? 'gone' : await judgeOwner(owner, site)
  if (verdict === 'alive') return false
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
