import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { opendir } from 'node:fs/promises'
import type { BlobInfo, ResumableUpload, UploadKey, PublishedUpload } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { fileStats, type FileCalls, isSystemError, undefinedIfAbsent } from '../files/file-calls.ts'
import { readRecord, type UploadRecord } from './upload-record.ts'
import {
  forgetUpload,
  parseContentName,
  type ContentName,
  publishedName,
  recordName,
  wantedName,
  type UploadSite,
} from './upload-site.ts'

/** An upload as it is found on disk. */
export interface FoundUpload {
  readonly directory: string
  readonly record: UploadRecord
  readonly offset: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** The blob, if the upload is published. */
  readonly published?: BlobInfo
  /** The file of the content, while it is here. */
  readonly content?: ContentFile
  /** Whether another process asks the owner to stop. */
  readonly isWanted: boolean
}

export interface ContentFile {
  readonly path: string
  readonly name: ContentName
}

/** The most attempts to find an upload: names may change during one. */
const attempts = 8

/** An id as this store makes it: distinct on file systems that fold case, too. */
const idPattern = /^[0-9a-f]{32}$/

/** Whether `id` may be that of an upload here. */
export function isUploadId(id: string): boolean {
  return idPattern.test(id)
}

/** Makes an id of 128 random bits. */
export function createUploadId(): string {
  return randomBytes(16).toString('hex')
}

/** The path of the upload's directory, which need not exist. */
export function uploadDirectory({ uploads }: UploadSite, { customer, id }: UploadKey): string {
  return join(uploads.customerDirectory(customer), id)
}

/** Finds the upload `key`; `undefined` if there is none. What it reports is durable. */
export async function findUpload(
  site: UploadSite,
  key: UploadKey,
): Promise<FoundUpload | undefined> {
  if (!isUploadId(key.id)) return undefined
  const directory = uploadDirectory(site, key)
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const names = await namesIn(directory, site.calls)
    if (names === 'file') return findRemembered(directory, site.calls)
    if (!names) return undefined
    const isLast = attempt === attempts
    const found = await describe(site, key, directory, names, isLast).catch(undefinedIfAbsent)
    if (found) return found
  }
  return undefined
}

async function describe(
  site: UploadSite,
  { customer }: UploadKey,
  directory: string,
  names: readonly string[],
  isLast: boolean,
): Promise<FoundUpload | undefined> {
  const { calls, layout } = site
  const isFinal = names.includes(publishedName)
  const path = join(directory, isFinal ? publishedName : recordName)
  const { record, changedAt } = await readRecord(path, calls)
  if (!record) throw new Error(`The record ${path} is damaged`)
  const { plan, publishing } = record
  const found = { directory, record, isWanted: names.includes(wantedName) }
  const expiring = (time: number) => ({ expiresAt: time + plan.expiresAfterMs })
  const asPublished = (published: BlobInfo) => {
    return { ...found, published, offset: published.size, ...expiring(changedAt) }
  }
  if (isFinal && publishing) return asPublished(publishing)
  const content = contentIn(directory, names)
  const target = layout.blobPath({ customer, name: plan.name })
  if (!content) {
    // Names may have changed between two readings of the directory.
    if (!publishing || !isLast) return undefined
    await syncPublication(target, directory, calls)
    return asPublished(publishing)
  }
  const stats = await calls.lstat(content.path)
  if (publishing && plan.createOnly === true) {
    const blob = await fileStats(target, calls)
    if (blob && blob.ino === stats.ino && blob.dev === stats.dev) {
      await syncPublication(target, directory, calls)
      return { ...asPublished(publishing), content }
    }
  }
  const { offset, pending = offset } = content.name
  if (pending !== offset) await changeDurably(directory, async () => {}, calls)
  const lastChange = Math.max(Number(stats.mtimeNs) / 1e6, changedAt)
  return { ...found, offset: pending, content, ...expiring(lastChange) }
}

/** The name with the most bytes is right: a process that came back after others took it for dead may have left a copy with fewer. */
function contentIn(directory: string, names: readonly string[]): ContentFile | undefined {
  const contents = names.flatMap((name) => {
    const parsed = parseContentName(name)
    return parsed ? [{ path: join(directory, name), name: parsed }] : []
  })
  const bytes = ({ name: { offset, pending = offset } }: ContentFile) => pending
  return contents.sort((one, other) => bytes(other) - bytes(one))[0]
}

/** Syncs both directories: the process that published the upload may have ended before it did. */
async function syncPublication(target: string, directory: string, calls: FileCalls): Promise<void> {
  const nothing = async () => {}
  // An administrator may have removed the customer's directory with all that is in it.
  await changeDurably(dirname(target), nothing, calls).catch(undefinedIfAbsent)
  await changeDurably(directory, nothing, calls)
}

/** The entries of the upload's directory; `file` if a remembered upload has its record there. */
async function namesIn(
  directory: string,
  calls: FileCalls,
): Promise<readonly string[] | 'file' | undefined> {
  return calls.readdir(directory).catch((error: unknown) => {
    if (isSystemError(error, 'ENOTDIR')) return 'file' as const
    return undefinedIfAbsent(error)
  })
}

/** Finds a remembered upload. Its record is not synced: one that a power cut has damaged counts as expired. */
async function findRemembered(path: string, calls: FileCalls): Promise<FoundUpload | undefined> {
  const read = await readRecord(path, calls).catch(undefinedIfAbsent)
  if (!read) return undefined
  const { record = { plan: { name: '', expiresAfterMs: 0 } }, changedAt } = read
  const { plan, publishing: published } = record
  return {
    ...{ directory: path, record, offset: published?.size ?? 0, isWanted: false },
    expiresAt: published ? changedAt + plan.expiresAfterMs : -Infinity,
    ...(published && { published }),
  }
}

/** Whether it has expired at `now`, in milliseconds since 1970. */
export function hasExpired({ expiresAt }: Pick<FoundUpload, 'expiresAt'>, now: number): boolean {
  return expiresAt <= now
}

/** The port's description. */
export function describeUpload(
  id: string,
  { record, offset, expiresAt, published }: FoundUpload,
): ResumableUpload {
  const expiry = new Date(expiresAt)
  return { id, plan: record.plan, offset, expiresAt: expiry, ...(published && { published }) }
}

/** Uploads inspected at a time; they become one batch. */
const batchLength = 64

export interface ListedUpload {
  readonly key: UploadKey
  readonly found: FoundUpload
}

/** The uploads of `customer`, published and expired ones too, in no order, in batches, without those that cannot be read. */
export function findUploads(
  site: UploadSite,
  customer: string,
  onUnreadable: (error: unknown) => undefined,
): AsyncGenerator<readonly ListedUpload[]> {
  return find(site, customer, () => true, onUnreadable)
}

/** Those of {@link findUploads} except the ones that are known to be published completely. */
export async function* findOpenUploads(
  site: UploadSite,
  customer: string,
): AsyncGenerator<readonly ListedUpload[]> {
  for await (const batch of find(site, customer, (id) => !site.published.has(id))) {
    await notePublished(site, batch)
    yield batch
  }
}

/** Remembers which uploads of `batch` are published completely. */
export async function notePublished(
  site: UploadSite,
  batch: readonly ListedUpload[],
): Promise<void> {
  // Filter first: `forgetOldest` removes ids from `published`, and those would be noted again.
  const unknown = batch.filter(({ key }) => !site.published.has(key.id))
  for (const { key, found } of unknown) {
    const { published, content, expiresAt, record } = found
    if (!published || content) continue
    const { link, expiresAfterMs } = record.plan
    const changedAt = expiresAt - expiresAfterMs
    await forgetOldest(site, key.customer, { id: key.id, link, changedAt })
  }
}

async function* find(
  site: UploadSite,
  customer: string,
  isWanted: (id: string) => boolean,
  onUnreadable?: (error: unknown) => undefined,
): AsyncGenerator<readonly ListedUpload[]> {
  for await (const found of idsIn(site.uploads.customerDirectory(customer))) {
    const ids = found.filter(isWanted)
    const looks = ids.map(async (id) => {
      const key = { customer, id }
      const finding = findUpload(site, key)
      const found = await (onUnreadable ? finding.catch(onUnreadable) : finding)
      return found ? [{ key, found }] : []
    })
    yield (await Promise.all(looks)).flat()
  }
}

async function* idsIn(directory: string): AsyncGenerator<readonly string[]> {
  const opened = await opendir(directory, { bufferSize: 1024 }).catch(undefinedIfAbsent)
  if (!opened) return
  let ids: string[] = []
  // The iteration closes the directory.
  for await (const { name } of opened) {
    if (!isUploadId(name)) continue
    ids.push(name)
    if (ids.length < batchLength) continue
    yield ids
    ids = []
  }
  if (ids.length > 0) yield ids
}

/** Notes a published upload, and forgets the oldest ones if there are too many. Never rejects: the next sweep finds what stays. */
export async function forgetOldest(
  site: UploadSite,
  customer: string,
  upload: PublishedUpload,
): Promise<void> {
  for (const id of site.published.add(customer, upload)) {
    await forgetUpload(site, uploadDirectory(site, { customer, id })).catch(() => {})
  }
}
