import type { BigIntStats } from 'node:fs'
import type { BlobKey } from '@holdfast/core'
import { fileStats } from '../files/blob-file.ts'
import { findOpenUploads } from './list-uploads.ts'
import { finishPublication } from './finish-publication.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * Finishes the publication that gave a blob its name, if the process that made it has ended before it took the content out of the upload.
 * Call it before the blob is removed or replaced: only the name shows that the upload has been published, and without it the next request
 * would publish the upload once more. Looks at uploads only if the blob's file has a second name.
 */
export async function finishLinked(
  site: UploadSite,
  { customer, name }: BlobKey,
  stats?: BigIntStats,
): Promise<void> {
  const target = site.layout.blobPath({ customer, name })
  const { nlink = 0n } = stats ?? (await fileStats(target, site.calls)) ?? {}
  if (nlink < 2n) return
  for await (const batch of findOpenUploads(site, customer)) {
    for (const { found } of batch) {
      const { published, content, record } = found
      if (published && content && record.plan.name === name) await finishPublication(site, found)
    }
  }
}
