import { dirname, join } from 'node:path'
import { rm } from 'node:fs/promises'
import {
  createUploadQueue,
  isFileServiceError,
  requireLength,
  type ResumableUploads,
  type UploadKey,
  uploadNotFound,
  uploadTakenOver,
  type BlobInfo,
  type ResumableUpload,
  type UploadPlan,
  type UploadQueue,
} from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import {
  pooledCalls,
  type FileCalls,
  isAbsence,
  translateFsError,
  undefinedIfAbsent,
} from '../files/file-calls.ts'
import { requireRoom } from '../files/file-system.ts'
import { concurrently, withEntries } from '../list/directory-entries.ts'
import { findCustomers } from '../list/walk-blobs.ts'
import { createFileContent, readByPool } from '../read/file-content.ts'
import { fileMode } from '../temp/temp-directory.ts'
import { appendToUpload } from './append-to-upload.ts'
import {
  describeUpload,
  findUpload,
  isUploadId,
  uploadDirectory,
  createUploadId,
  hasExpired,
  type FoundUpload,
  findOpenUploads,
  forgetOldest,
  findUploads,
  notePublished,
  type ListedUpload,
} from './find-upload.ts'
import { sweepLinkNotes, publishUpload, finishPublication } from './publish-upload.ts'
import {
  awaitOwner,
  isOver,
  requireUpload,
  takeUpload,
  judgeOwner,
  createWatchedLeases,
  takeContent,
} from './upload-lease.ts'
import {
  replaceRecord,
  writeRecord,
  type UploadRecord,
  fillRecord,
  readRecord,
} from './upload-record.ts'
import { removeUpload, type UploadSite, formatContentName, recordName } from './upload-site.ts'

/** The uploads in pieces of a disk store. */
export interface DiskResumableUploads extends ResumableUploads {
  /** Ends the running appends; the bytes that arrived count. */
  close(): Promise<void>
}

/** Uploads in the directory of `site`, each in a directory of its own; the README describes it for administrators. */
export function createDiskResumableUploads(site: UploadSite): DiskResumableUploads {
  const queue = createUploadQueue()
  const leases = createWatchedLeases(site)

  /** Runs `work` once no other work of this process uses the upload. */
  const alone = async <T>(
    key: UploadKey,
    work: (ending: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    if (!isUploadId(key.id)) throw uploadNotFound()
    return translateFsError(queue.run(uploadDirectory(site, key), work))
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

    publish: (key, options) => alone(key, () => publishUpload(site, key, options)),

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

    sweep: (now) => translateFsError(sweepUploads(site, queue, now.getTime())),

    close: () => queue.close(new Error('The disk store is closed')),
  }
}

async function* readContent(site: UploadSite, key: UploadKey): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { content, published, offset } = await translateFsError(requireUpload(site, key))
    if (!content || published) throw uploadNotFound()
    const opening = pooledCalls.open(content.path, 'r').catch(undefinedIfAbsent)
    const file = await translateFsError(opening)
    // Another process may have renamed it: look again.
    if (file === undefined) continue
    yield* createFileContent(readByPool(file), { offset: 0, length: offset }).content
    return
  }
}

/**
 * Records a blob as a published upload: one file in place of the upload's directory. Nothing is synced, since the blob is safe without it.
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
  const { calls, tempDirectory, metadataDirectories } = site
  const { path, file } = await tempDirectory.createTemporaryFile()
  try {
    const { mtimeNs } = await writeAndStat(file, record, calls)
    const target = uploadDirectory(site, key)
    await metadataDirectories.within(dirname(target), () => calls.rename(path, target))
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

/**
 * Begins an upload. Makes its directory in the temporary directory, and renames it when it is complete, so that a crash leaves no partial
 * upload.
 *
 * @throws FileServiceError `insufficient-storage` if it is longer than the free space at this moment. A new upload reserves nothing:
 * otherwise the announcement of a large one would block all others.
 */
async function beginUpload(
  site: UploadSite,
  customer: string,
  plan: UploadPlan,
): Promise<ResumableUpload> {
  const { calls, tempDirectory } = site
  if (plan.length !== undefined) await requireRoom(site.layout.root, plan.length)
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
  const { calls, metadataDirectories } = site
  const directory = uploadDirectory(site, key)
  const parent = dirname(directory)
  const rename = async () => {
    await calls.rename(prepared, directory)
    crashPoint('upload-named')
  }
  await metadataDirectories.within(parent, () => changeDurably(parent, rename, calls))
}

/**
 * Removes the uploads of all customers that have expired by `now`; resolves with how many of them were unfinished. Also finishes
 * publications that broke off. An upload that cannot be read or removed stops no other; at the end it rejects with the first such error.
 */
async function sweepUploads(site: UploadSite, queue: UploadQueue, now: number): Promise<number> {
  const customers = await withEntries((entriesOf) => findCustomers(site.uploads, entriesOf))
  let removed = 0
  const failures: unknown[] = []
  const fail = (error: unknown): undefined => void failures.push(error)
  const sweep = async (upload: ListedUpload) => {
    const { directory } = upload.found
    if (queue.isRunning(directory)) return
    if (await queue.run(directory, () => sweepOne(site, upload, now))) removed++
  }
  for (const customer of customers) {
    for await (const batch of findUploads(site, customer, fail)) {
      const swept = batch.filter(({ found }) => hasExpired(found, now) || isLinked(found))
      // Those that are removed at the same time share the syncs of their directory.
      await concurrently(swept, (upload) => sweep(upload).catch(fail))
      await notePublished(
        site,
        batch.filter(({ found }) => !hasExpired(found, now)),
      )
    }
    await sweepLinkNotes(site, customer)
  }
  if (failures.length > 0) throw failures[0]
  return removed
}

/** Whether the content of a published upload still has its name here. That name would keep the bytes when the file is deleted. */
function isLinked({ published, content }: FoundUpload): boolean {
  return published !== undefined && content !== undefined
}

/** Removes an upload that has expired, or finishes its publication; resolves with whether it removed an unfinished one. */
async function sweepOne(site: UploadSite, { found }: ListedUpload, now: number): Promise<boolean> {
  const { content, directory, record } = found
  if (!content || (found.published && hasExpired(found, now))) {
    await removeUpload(site, directory)
    return false
  }
  const { owner } = content.name
  const verdict = owner === undefined ? 'gone' : await judgeOwner(owner, site)
  if (verdict === 'alive') return false
  if (found.published) {
    // A silent process may come back and finish it itself.
    if (verdict === 'gone') await finishPublication(site, found)
    return false
  }
  // From now on no process can take it. One that took it since it was found has changed its time.
  const lease = await takeContent(site, { ...found, content }, verdict === 'silent')
  if (!lease) return false
  const { mtimeNs } = await site.calls.lstat(lease.path())
  if (Number(mtimeNs) / 1e6 + record.plan.expiresAfterMs <= now) {
    return removeUpload(site, directory)
  }
  await lease.release()
  return false
}
