import { basename } from 'node:path/posix'
import type { ResumableUpload } from '@holdfast/core'
import { listBelow } from './part-objects.ts'
import { isUploadId } from './upload-keys.ts'
import type { UploadObjects } from './upload-objects.ts'
import { describeUpload, isKnown } from './upload-record.ts'
import { readRecord } from './upload-records.ts'

/** How many records are read at once, and are on a page. */
const pageLength = 16

/** A customer's uploads that go on, in pages. */
export async function* listUploadsOf(
  objects: UploadObjects,
  customer: string,
): AsyncGenerator<readonly ResumableUpload[]> {
  for await (const found of listBelow(objects, objects.uploadKeys.recordsPrefix(customer))) {
    const keys = found.map(({ key }) => key).filter((key) => isUploadId(basename(key)))
    for (let at = 0; at < keys.length; at += pageLength) {
      const page = await Promise.all(
        keys.slice(at, at + pageLength).map((key) => findUnfinished(objects, key)),
      )
      const uploads = page.flatMap((upload) => upload ?? [])
      if (uploads.length > 0) yield uploads
    }
  }
}

async function findUnfinished(
  objects: UploadObjects,
  key: string,
): Promise<ResumableUpload | undefined> {
  const record = (await readRecord(objects, key))?.record
  if (!record || record.published || !isKnown(record, Date.now())) return undefined
  return describeUpload(basename(key), record)
}
