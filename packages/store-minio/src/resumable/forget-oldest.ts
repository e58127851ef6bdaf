import type { ResumableUpload } from '@holdfast/core'
import { removeObjects } from './part-objects.ts'
import type { UploadObjects } from './upload-objects.ts'

/** Notes published uploads, and forgets the oldest of such if there are too many. What cannot be removed is found again by a sweep. */
export async function forgetOldest(
  objects: UploadObjects,
  customer: string,
  uploads: readonly Pick<ResumableUpload, 'id' | 'plan' | 'expiresAt'>[],
): Promise<void> {
  const ids = uploads.flatMap((upload) => objects.published.add(customer, upload))
  const keys = ids.map((id) => objects.uploadKeys.recordKey({ customer, id }))
  await removeObjects(objects, keys).catch(() => {})
}
