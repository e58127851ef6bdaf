import type { BlobInfo, UploadPlan } from '@holdfast/core'
import { blobInfo } from '../files/blob-file.ts'
import { crashPoint } from '../files/crash-point.ts'
import { nextModificationTime } from '../write/modification-time.ts'
import { prepareRecord } from './record-file.ts'
import type { UploadSite } from './upload-site.ts'

export interface PreparedPublication {
  /** The blob that the content is about to become. */
  readonly published: BlobInfo
  /** The path of the record that says so, or why it could not be written. */
  readonly record: PromiseSettledResult<string>
}

/**
 * Gives the complete content in `file` the time that its entity tag needs, and syncs it; and at the same time the record of the blob
 * that it is about to become, which is to be placed or removed.
 */
export async function preparePublication(
  site: UploadSite,
  file: number,
  plan: UploadPlan,
): Promise<PreparedPublication> {
  const { calls, tempDirectory, writer } = site
  await calls.setTimes(file, nextModificationTime(writer))
  const published = blobInfo(plan.name, await calls.stat(file))
  const [synced, record] = await Promise.allSettled([
    calls.sync(file),
    prepareRecord({ plan, publishing: published }, site),
  ])
  if (synced.status === 'fulfilled') {
    crashPoint('content-synced')
    return { published, record }
  }
  if (record.status === 'fulfilled') await tempDirectory.remove(record.value)
  throw synced.reason
}
