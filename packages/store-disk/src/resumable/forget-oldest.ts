import type { PublishedUpload } from '@holdfast/core'
import { uploadDirectory } from './find-upload.ts'
import { forgetUpload } from './remove-upload.ts'
import type { UploadSite } from './upload-site.ts'

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
