import { dirname } from 'node:path'
import type { BlobInfo, ResumableUpload, UploadKey, UploadPlan } from '@holdfast/core'
import type { FileCalls } from '../files/file-calls.ts'
import { crashPoint } from '../files/crash-point.ts'
import { createUploadId, uploadDirectory } from './find-upload.ts'
import { forgetOldest } from './forget-oldest.ts'
import { writeRecord } from './record-file.ts'
import type { UploadRecord } from './upload-record.ts'
import type { UploadSite } from './upload-site.ts'

/**
 * Keeps a blob as an upload that has been published: one file in the place of the upload's directory. Nothing is synced, since
 * the blob is safe without it.
 */
export async function rememberUpload(
  site: UploadSite,
  customer: string,
  plan: UploadPlan,
  published: BlobInfo,
): Promise<ResumableUpload> {
  const key = { customer, id: createUploadId() }
  const record = { plan, publishing: published }
  const changedAt = await keepRecord(site, key, record).catch(() => Date.now())
  await forgetOldest(site, customer, { id: key.id, link: plan.link, changedAt })
  const expiresAt = new Date(changedAt + plan.expiresAfterMs)
  return { id: key.id, plan, offset: published.size, expiresAt, published }
}

/** Resolves to the time of the record, in milliseconds since 1970. */
async function keepRecord(site: UploadSite, key: UploadKey, record: UploadRecord): Promise<number> {
  const { calls, tempDirectory, uploadDirectories } = site
  const { path, file } = await tempDirectory.createTemporaryFile()
  try {
    const { mtimeNs } = await writeAndStat(file, record, calls)
    const target = uploadDirectory(site, key)
    await uploadDirectories.within(dirname(target), () => calls.rename(path, target))
    crashPoint('upload-remembered')
    return Number(mtimeNs) / 1e6
  } catch (error) {
    await tempDirectory.remove(path)
    throw error
  }
}

/** Writes `record` into the new and empty `file`, and closes it. */
async function writeAndStat(file: number, record: UploadRecord, calls: FileCalls) {
  try {
    await writeRecord(file, record, calls)
    return await calls.stat(file)
  } finally {
    await calls.close(file)
  }
}
