import {
  createUploadTurns,
  isFileServiceError,
  requireLength,
  type ResumableUploads,
  type UploadKey,
  uploadNotFound,
  uploadTakenOver,
  type BlobInfo,
  type ResumableUpload,
  type UploadPlan,
} from '@holdfast/core'
import { pooledCalls, type FileCalls } from '../files/file-calls.ts'
import { isAbsence, translateFsError } from '../files/translate-fs-error.ts'
import { createFileContent, readByPool } from '../read/file-content.ts'
import { appendToUpload } from './append-to-upload.ts'
import { beginUpload } from './begin-upload.ts'
import {
  describeUpload,
  findUpload,
  isUploadId,
  uploadDirectory,
  createUploadId,
} from './find-upload.ts'
import { findOpenUploads, forgetOldest } from './list-uploads.ts'
import { publishUpload } from './publish-upload.ts'
import { replaceRecord, writeRecord, type UploadRecord } from './upload-record.ts'
import { removeUpload } from './remove-upload.ts'
import { sweepUploads } from './sweep-uploads.ts'
import { awaitOwner, isOver, requireUpload, takeUpload } from './take-upload.ts'
import type { UploadSite } from './upload-site.ts'
import { createWatchedLeases } from './upload-lease.ts'
import { dirname } from 'node:path'
import { crashPoint } from '../files/crash-point.ts'

/** The uploads in pieces of a disk store. */
export interface DiskResumableUploads extends ResumableUploads {
  /** Ends the appends under way; what came counts. */
  close(): Promise<void>
}

/** Uploads in the directory of `site`, each in a directory of its own; the README describes it for administrators. */
export function createDiskResumableUploads(site: UploadSite): DiskResumableUploads {
  const turns = createUploadTurns()
  const leases = createWatchedLeases(site)

  /** Does `work` once nothing else of this process uses the upload. */
  const alone = async <T>(
    key: UploadKey,
    work: (ending: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    if (!isUploadId(key.id)) throw uploadNotFound()
    return translateFsError(turns.run(uploadDirectory(site, key), work))
  }

  return {
    begin: (customer, plan) => translateFsError(beginUpload(site, customer, plan)),

    async state(key) {
      const found = await translateFsError(findUpload(site, key))
      if (found && !(await translateFsError(isOver(site, found, Date.now())))) {
        return describeUpload(key.id, found)
      }
      await site.checkMount()
      return undefined
    },

    async append(key, offset, content, options = {}) {
      options.signal?.throwIfAborted()
      const append = { key, offset, content, options }
      const appended = await alone(key, async (ending) => {
        ending.throwIfAborted()
        return appendToUpload(site, leases, append, ending)
      })
      if ('error' in appended) throw appended.error
      return appended.offset
    },

    async interrupt(key) {
      if (!isUploadId(key.id)) return
      await alone(key, () => awaitOwner(site, key)).catch((error: unknown) => {
        if (!isFileServiceError(error, 'upload-not-found')) throw error
      })
    },

    async declareLength(key, length) {
      await alone(key, async () => {
        const { found, lease } = await takeUpload(site, key)
        const { plan } = found.record
        try {
          requireLength({ ...found, plan }, length)
          if (lease && plan.length === undefined) {
            await replaceRecord(lease.directory, { plan: { ...plan, length } }, site).catch(
              (error: unknown) => {
                throw isAbsence(error) ? uploadTakenOver() : error
              },
            )
          }
        } finally {
          await lease?.release()
        }
      })
    },

    content: (key) => readContent(site, key),

    publish: (key) => alone(key, () => publishUpload(site, key)),

    remember: (customer, plan, published) => rememberUpload(site, customer, plan, published),

    async discard(key) {
      if (!isUploadId(key.id)) return false
      return alone(key, async () => {
        const found = await findUpload(site, key)
        if (!found || (await isOver(site, found, Date.now()))) {
          await site.checkMount()
          return false
        }
        return removeUpload(site, found.directory)
      })
    },

    async *list(customer) {
      const now = Date.now()
      for await (const batch of findOpenUploads(site, customer)) {
        const unfinished = batch.map(async ({ key, found }) => {
          const isListed = !found.published && !(await isOver(site, found, now))
          return isListed ? [describeUpload(key.id, found)] : []
        })
        const page = (await translateFsError(Promise.all(unfinished))).flat()
        if (page.length > 0) yield page
      }
      await site.checkMount()
    },

    sweep: (now) => translateFsError(sweepUploads(site, turns, now.getTime())),

    close: () => turns.close(new Error('The disk store is closed')),
  }
}

async function* readContent(site: UploadSite, key: UploadKey): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { content, published, offset } = await translateFsError(requireUpload(site, key))
    if (!content || published) throw uploadNotFound()
    const file = await translateFsError(openUnlessRenamed(content.path))
    if (file === undefined) continue
    yield* createFileContent(readByPool(file), { offset: 0, length: offset }).content
    return
  }
}

async function openUnlessRenamed(path: string): Promise<number | undefined> {
  try {
    return await pooledCalls.open(path, 'r')
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/**
 * Keeps a blob as an upload that has been published: one file in the place of the upload's directory. Nothing is synced, since
 * the blob is safe without it.
 */
async function rememberUpload(
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
