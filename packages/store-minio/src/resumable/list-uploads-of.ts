import { basename } from 'node:path/posix'
import type { ResumableUpload } from '@holdfast/core'
import { forgetOldest } from './forget-oldest.ts'
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
    const keys = found.map(({ key }) => key)
    for await (const uploads of findOpenUploads(objects, customer, keys)) {
      const unfinished = uploads.filter(({ published }) => !published)
      if (unfinished.length > 0) yield unfinished
    }
  }
}

/** The uploads of `customer` whose records are `keys`, without those that are known to be published. */
export async function* findOpenUploads(
  objects: UploadObjects,
  customer: string,
  keys: readonly string[],
): AsyncGenerator<readonly ResumableUpload[]> {
  const open = keys.filter((key) => {
    const id = basename(key)
    return isUploadId(id) && !objects.published.has(id)
  })
  for (let at = 0; at < open.length; at += pageLength) {
    const page = open.slice(at, at + pageLength).map((key) => find(objects, key))
    const uploads = (await Promise.all(page)).flatMap((upload) => upload ?? [])
    const published = uploads.filter((upload) => upload.published)
    await forgetOldest(objects, customer, published)
    yield uploads
  }
}

async function find(objects: UploadObjects, key: string): Promise<ResumableUpload | undefined> {
  const record = (await readRecord(objects, key))?.record
  return record && isKnown(record, Date.now()) ? describeUpload(basename(key), record) : undefined
}
