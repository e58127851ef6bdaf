import { basename } from 'node:path/posix'
import { removeObjects } from './part-objects.ts'
import type { UploadObjects } from './upload-objects.ts'
import type { StoredRecord } from './upload-records.ts'

/** Notes published uploads, and forgets the oldest of such if there are too many. Never rejects: the next sweep finds what stays. */
export async function forgetOldest(
  objects: UploadObjects,
  uploads: readonly Pick<StoredRecord, 'key' | 'record'>[],
): Promise<void> {
  const keys = uploads.flatMap(({ key, record: { customer, plan, changedAt } }) => {
    const upload = { id: basename(key), link: plan.link, changedAt }
    const oldest = objects.published.add(customer, upload)
    return oldest.map((id) => objects.uploadKeys.recordKey({ customer, id }))
  })
  await removeObjects(objects, keys).catch(() => {})
}
