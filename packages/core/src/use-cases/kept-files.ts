import type { Customer } from '../model/customer.ts'
import { FileServiceError, nameTaken } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { BlobInfo, ListOptions, OpenBlob, OpenOptions, Usage } from '../ports/blob.ts'
import type { History, KeptBlob, VersionOptions } from '../ports/store-capabilities.ts'
import { requireLimit } from './stored-files.ts'

/** What is needed to read and restore earlier versions and deleted files. */
export interface HistoryPolicy {
  readonly store: BlobStore
  readonly history: History
  readonly quotas: Pick<QuotaKeeper, 'claim'>
}

export interface RestoreOptions {
  /** Which version to restore, as `versions` calls it. Default: the last one. */
  readonly version?: string
  /** The name to restore it under. Default: its own. */
  readonly as?: string
  /** Refuse with `already-exists` if that name is taken. Default: replace. The file that is replaced becomes an earlier version. */
  readonly createOnly?: boolean
}

/** The earlier versions of a customer's files, and the deleted files, as long as they are kept. */
export interface FileHistory {
  /** The earlier versions of a file, newest first, in pages; none if there are none. The present file is not among them. */
  versions(name: string, options?: VersionOptions): AsyncIterable<readonly KeptBlob[]>
  /** The deleted files, each with its last version, in the order and pages of `list`. */
  deleted(options?: ListOptions): AsyncIterable<readonly KeptBlob[]>
  /** Opens an earlier version, as `serve` opens the present one. */
  serve(name: string, version: string, options?: OpenOptions): Promise<OpenBlob>
  /** Stores an earlier version or a deleted file as a file again; see `restoreFile`. */
  restore(name: string, options?: RestoreOptions): Promise<BlobInfo>
}

/** @throws FileServiceError `invalid-file-name`; RangeError when `limit` is not an integer of 1 or more, or `before` is not a version */
export function listVersions(
  { history }: HistoryPolicy,
  customer: Customer,
  name: string,
  options: VersionOptions = {},
): AsyncIterable<readonly KeptBlob[]> {
  checkFileName(name)
  requireLimit(options)
  const { before } = options
  if (before !== undefined && !isVersion(before)) throw new RangeError('before is not a version')
  return history.versions({ customer: customer.name, name }, options)
}

/** @throws RangeError when `limit` is not an integer of 1 or more */
export function listDeleted(
  { history }: HistoryPolicy,
  customer: Customer,
  options: ListOptions = {},
): AsyncIterable<readonly KeptBlob[]> {
  requireLimit(options)
  return history.deleted(customer.name, options)
}

/**
 * Opens an earlier version of the customer's file `name`, which may be deleted. The caller must read or close it.
 *
 * @throws FileServiceError `invalid-file-name`, `version-not-found`, `store-unavailable`
 */
export async function serveVersion(
  { history }: HistoryPolicy,
  customer: Customer,
  name: string,
  version: string,
  options?: OpenOptions,
): Promise<OpenBlob> {
  checkFileName(name)
  const opened = isVersion(version)
    ? await history.open({ customer: customer.name, name, version }, options)
    : undefined
  if (opened === undefined) throw notKept()
  return opened
}

/**
 * Stores an earlier version of the customer's file `name` as a file of the same name, or of the name `as`. It is an upload of the same
 * bytes: the file has a new time and entity tag, counts in the quota, and replaces a present file, which becomes an earlier version. When
 * it resolves, the file is durable and visible; when it rejects, nothing has changed, except as for `uploadFile`.
 *
 * @throws FileServiceError `invalid-file-name`; `version-not-found` if the name has no earlier version, or not this one;
 *   `already-exists`, `quota-exceeded`, `insufficient-storage`, `store-unavailable`
 */
export async function restoreFile(
  { store, history, quotas }: HistoryPolicy,
  customer: Customer,
  name: string,
  { version, as = name, createOnly = false }: RestoreOptions = {},
): Promise<BlobInfo> {
  checkFileName(name)
  checkFileName(as)
  const key = { customer: customer.name, name }
  const kept = await findKept(history, key, version)
  if (kept === undefined) throw notKept()
  // The store decides at publication; this early check spares a useless claim.
  if (createOnly && (await store.stat({ ...key, name: as }))) throw nameTaken()
  const claim = await quotas.claim(customer, as, kept.size)
  try {
    await claim.grow(kept.size)
    await claim.prepare()
    const restored = await history.restore({ ...key, version: kept.version }, as, { createOnly })
    if (restored === undefined) throw notKept()
    claim.settle()
    return restored
  } finally {
    claim.end()
  }
}

/** The earlier version that is called so; by default the last one. */
async function findKept(
  history: History,
  key: { readonly customer: string; readonly name: string },
  version: string | undefined,
): Promise<Pick<KeptBlob, 'version' | 'size'> | undefined> {
  if (version === undefined) {
    for await (const [newest] of history.versions(key, { limit: 1 })) return newest
    return undefined
  }
  if (!isVersion(version)) return undefined
  const opened = await history.open({ ...key, version })
  await opened?.close()
  return opened && { version, size: opened.info.size }
}

/** Whether a text has the form of {@link KeptBlob.version}; the texts of clients may have any. */
export function isVersion(text: string): boolean {
  return /^[\w.-]{1,200}$/u.test(text) && text !== '.' && text !== '..'
}

function notKept(): FileServiceError {
  return new FileServiceError('version-not-found', 'Version not found')
}

/** What is needed to remove earlier versions. */
export interface PurgePolicy {
  readonly history: History
  readonly now: () => number
  /** How long replaced files are kept, in milliseconds. `undefined` if no setting says so; then nothing is removed. */
  readonly keepMsOf: (customer: Customer) => number | undefined
  /** The most bytes of earlier versions and deleted files; `Infinity` for no limit. */
  readonly keepQuotaOf: (customer: Customer) => number
}

/** What {@link purgeKept} has removed and left. */
export interface PurgeOutcome {
  /** What was removed since its time had passed. */
  readonly outdated: Usage
  /** What was removed before its time, since more was kept than `keepQuota`. */
  readonly surplus: Usage
  /** What is still kept. */
  readonly kept: Usage
}

/**
 * Removes earlier versions and deleted files that are too old; then the oldest, while more than `keepQuota` is kept. Call it from time to
 * time for each customer who has any. It may be ended at any time.
 *
 * @throws FileServiceError `store-unavailable`
 */
export async function purgeKept(policy: PurgePolicy, customer: Customer): Promise<PurgeOutcome> {
  const { history, now, keepMsOf, keepQuotaOf } = policy
  const keepMs = keepMsOf(customer)
  const outdated =
    keepMs === undefined ? none : await history.purge(customer.name, new Date(now() - keepMs))
  const quota = keepMs === undefined ? Infinity : keepQuotaOf(customer)
  const { usage, cutoff } = await findCutoff(
    () => history.kept(customer.name),
    () => quota,
    now(),
  )
  if (cutoff === undefined) return { outdated, surplus: none, kept: usage }
  const surplus = await history.purge(customer.name, cutoff)
  const kept = {
    blobs: Math.max(0, usage.blobs - surplus.blobs),
    bytes: Math.max(0, usage.bytes - surplus.bytes),
  }
  return { outdated, surplus, kept }
}

/**
 * Removes the oldest that is kept for any of the customers, until so many bytes are free, or nothing is left; resolves with what was
 * removed for each customer. It is for a disk that is nearly full.
 */
export async function freeKept(
  { history, now }: Pick<PurgePolicy, 'history' | 'now'>,
  bytes: number,
): Promise<ReadonlyMap<string, Usage>> {
  const customers: string[] = []
  for await (const customer of history.customers()) customers.push(customer)
  const keptOfAll = async function* () {
    for (const customer of customers) yield* history.kept(customer)
  }
  const removed = new Map<string, Usage>()
  const { cutoff } = await findCutoff(keptOfAll, (usage) => usage.bytes - bytes, now())
  if (cutoff === undefined) return removed
  for (const customer of customers) {
    const purged = await history.purge(customer, cutoff)
    if (purged.blobs > 0) removed.set(customer, purged)
  }
  return removed
}

const none: Usage = { blobs: 0, bytes: 0 }

/** The time before which all must go. */
interface Cutoff {
  /** What is kept in all. */
  readonly usage: Usage
  /** `undefined` if nothing must go. Never later than `now`. */
  readonly cutoff: Date | undefined
}

/**
 * Finds the time before which all that is kept must go so that at most `mostOf(usage)` bytes stay. `kept` lists what is kept. If something
 * must go, it is called again, to find the time within the last period, which may be long.
 */
async function findCutoff(
  kept: () => AsyncIterable<readonly KeptBlob[]>,
  mostOf: (usage: Usage) => number,
  now: number,
): Promise<Cutoff> {
  const ages = createAges(1000)
  for await (const page of kept()) page.forEach(ages.add)
  const usage = ages.usage()
  const most = mostOf(usage)
  if (usage.bytes <= most) return { usage, cutoff: undefined }
  const last = ages.lastToGo(most)
  const within = createAges(1)
  for await (const page of kept()) {
    page.forEach((blob) => {
      const time = blob.replacedAt.getTime()
      if (time >= last.start && time < last.end) within.add(blob)
    })
  }
  const cutoff = within.lastToGo(most - last.bytesAfter).end
  return { usage, cutoff: new Date(Math.min(cutoff, now)) }
}

/** The most periods that are distinguished. Above that, two neighbours become one. */
const mostPeriods = 4096

/** A span of time; in milliseconds since 1970. */
interface Period {
  readonly start: number
  readonly end: number
  /** What was replaced later. */
  readonly bytesAfter: number
}

/**
 * Sums what is kept by the period of `periodMs` milliseconds in which it was replaced; if there are too many, by longer ones. Memory stays
 * bounded.
 */
function createAges(periodMs: number) {
  let periods = new Map<number, number>()
  let usage = none

  const add = ({ replacedAt, size }: KeptBlob) => {
    usage = { blobs: usage.blobs + 1, bytes: usage.bytes + size }
    const period = Math.floor(replacedAt.getTime() / periodMs)
    periods.set(period, (periods.get(period) ?? 0) + size)
    while (periods.size > mostPeriods) {
      const longer = new Map<number, number>()
      for (const [at, bytes] of periods) {
        const half = Math.floor(at / 2)
        longer.set(half, (longer.get(half) ?? 0) + bytes)
      }
      periods = longer
      periodMs *= 2
    }
  }

  return {
    add,
    usage: () => usage,
    /** The last period from which something must go so that at most `most` bytes stay. */
    lastToGo(most: number): Period {
      let left = usage.bytes
      let last = 0
      for (const [period, size] of [...periods].sort(([one], [other]) => one - other)) {
        if (left <= most) break
        last = period
        left -= size
      }
      return { start: last * periodMs, end: (last + 1) * periodMs, bytesAfter: left }
    },
  }
}
