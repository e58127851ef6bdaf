import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ResumableUpload } from '@holdfast/core'
import { uploadDirectory } from './find-upload.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * Notes a published upload, and forgets the oldest of such if there are too many. Syncs nothing and never rejects: the next sweep finds what
 * stays.
 */
export async function forgetOldest(
  site: UploadSite,
  customer: string,
  upload: Pick<ResumableUpload, 'id' | 'plan' | 'expiresAt'>,
): Promise<void> {
  for (const id of site.published.add(customer, upload)) {
    const trash = await site.tempDirectory.createTemporaryDirectory().catch(() => undefined)
    if (trash === undefined) return
    const gone = join(trash, 'upload')
    await site.calls.rename(uploadDirectory(site, { customer, id }), gone).catch(() => {})
    await rm(trash, { recursive: true, force: true }).catch(() => {})
  }
}
