import { basename } from 'node:path/posix'
import type { ResumableUpload } from '@holdfast/core'
import type { ListedObject } from '../list/list-objects.ts'
import { listBelow, removeObjects } from './part-objects.ts'
import { isUploadId, type UploadObjects } from './upload-keys.ts'
import { describeUpload, isKnown } from './upload-record.ts'
import { readRecord, type StoredRecord } from './upload-records.ts'

/** How many records are read at once, and are on a page. */
const pageLength = 16

/** A customer's uploads that go on, in pages. */
export async function* listUploadsOf(
  objects: UploadObjects,
  customer: string,
): AsyncGenerator<readonly ResumableUpload[]> {
  for await (const found of listBelow(objects, objects.uploadKeys.recordsPrefix(customer))) {
    for await (const stored of findOpenRecords(objects, found)) {
      const unfinished = stored.filter(({ record }) => !record.published)
      const uploads = unfinished.map(({ key, record }) => describeUpload(basename(key), record))
      if (uploads.length > 0) yield uploads
    }
  }
}

/** The records that `found` lists, in pages, without those that are known to be published. Notes those that turn out to be. */
export async function* findOpenRecords(
  objects: UploadObjects,
  found: readonly Pick<ListedObject, 'key'>[],
): AsyncGenerator<readonly StoredRecord[]> {
  const open = found.filter(({ key }) => {
    const id = basename(key)
    return isUploadId(id) && !objects.published.has(id)
  })
  for (let at = 0; at < open.length; at += pageLength) {
    const reading = open.slice(at, at + pageLength).map(({ key }) => readRecord(objects, key))
    const read = (await Promise.all(reading)).flatMap((each) => each ?? [])
    const stored = read.filter(({ record }) => isKnown(record, Date.now()))
    await forgetOldest(
      objects,
      stored.filter(({ record }) => record.published),
    )
    yield stored
  }
}

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
