import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  FileServiceError,
  type ResumableUpload,
  type UploadKey,
  type UploadPlan,
} from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { freeSpaceOf } from '../files/file-system.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { fileMode } from '../temp/temp-directory.ts'
import { formatContentName, recordName, type UploadSite } from './upload-site.ts'
import { createUploadId, uploadDirectory } from './find-upload.ts'
import { fillRecord, readRecord } from './upload-record.ts'

/**
 * Begins an upload. Its directory is made in the temporary directory, and gets its name when it is complete: a crash leaves no
 * half of an upload.
 *
 * @throws FileServiceError `insufficient-storage` for one that is longer than what is free at this moment. An upload that begins reserves
 *   nothing: otherwise the announcement of a large one would keep out all others.
 */
export async function beginUpload(
  site: UploadSite,
  customer: string,
  plan: UploadPlan,
): Promise<ResumableUpload> {
  const { calls, tempDirectory } = site
  if (plan.length !== undefined && plan.length > (await freeSpaceOf(site.layout.root))) {
    throw new FileServiceError('insufficient-storage', 'The disk has no room for the file')
  }
  const key = { customer, id: createUploadId() }
  const prepared = await tempDirectory.createTemporaryDirectory()
  try {
    await prepare(prepared, plan, calls)
    crashPoint('upload-prepared')
    const { changedAt } = await readRecord(join(prepared, recordName), calls)
    await giveName(site, key, prepared)
    crashPoint('upload-begun')
    return { id: key.id, plan, offset: 0, expiresAt: new Date(changedAt + plan.expiresAfterMs) }
  } catch (error) {
    await rm(prepared, { recursive: true, force: true }).catch(() => {})
    throw error
  }
}

async function prepare(directory: string, plan: UploadPlan, calls: FileCalls): Promise<void> {
  const content = formatContentName({ offset: 0, isShared: false })
  await calls.close(await calls.open(join(directory, content), 'wx', fileMode))
  const record = await calls.open(join(directory, recordName), 'wx', fileMode)
  const outcomes = await Promise.allSettled([
    fillRecord(record, { plan }, calls),
    changeDurably(directory, async () => {}, calls),
  ])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

async function giveName(site: UploadSite, key: UploadKey, prepared: string): Promise<void> {
  const { calls, uploadDirectories } = site
  const directory = uploadDirectory(site, key)
  const parent = dirname(directory)
  const rename = async () => {
    await calls.rename(prepared, directory)
    crashPoint('upload-named')
  }
  await uploadDirectories.within(parent, () => changeDurably(parent, rename, calls))
}
