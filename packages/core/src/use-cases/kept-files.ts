import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob-info.ts'
import type { ListOptions, OpenBlob, OpenOptions } from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { History, KeptBlob, VersionOptions } from '../ports/history.ts'
import { requireLimit } from './list-files.ts'

/** What is needed to read and restore what is kept. */
export interface HistoryPolicy {
  readonly store: BlobStore
  readonly history: History
  readonly quotas: Pick<QuotaKeeper, 'claim'>
}

export interface RestoreOptions {
  /** What to restore, as `versions` calls it. Default: what was replaced or deleted last. */
  readonly version?: string
  /** The name to restore it under. Default: its own. */
  readonly as?: string
  /** Refuse with `already-exists` if that name is taken. Default: replace. What is replaced is kept. */
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
  /** Stores what is kept as a file; see `restoreFile`. */
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
 * @throws FileServiceError `invalid-file-name`; `version-not-found` if nothing is kept of the name, or not this version;
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
  if (createOnly && (await store.stat({ ...key, name: as }))) throw taken()
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

/** What is kept under this version, or was kept last. */
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

function taken(): FileServiceError {
  return new FileServiceError('already-exists', 'The name is taken')
}
