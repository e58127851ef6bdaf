import type { FileHooks } from './model/file-hooks.ts'
import { requireCount, requireMethods } from './model/require.ts'
import type { LoginBrake } from './policy/login-brake.ts'
import type { QuotaKeeper } from './policy/quota-keeper.ts'
import type { BlobStore } from './ports/blob-store.ts'
import type { CredentialSource, PasswordVerifier } from './ports/credential-source.ts'
import type { IncrementalHash } from './use-cases/expected-digest.ts'

export interface FileServiceOptions {
  readonly store: BlobStore
  /** The customers who may log in. Default: none, for applications that authenticate by themselves and use `filesOf`. */
  readonly credentials?: CredentialSource
  /** Checks passwords against the hashes of `credentials`. Default: every password is wrong. */
  readonly verifyPassword?: PasswordVerifier
  /** Limits failed logins. Default: no limit; see `createLoginBrake`. */
  readonly loginBrake?: LoginBrake
  /**
   * Enforces quotas. Default: a keeper for this service alone, which notices the changes of other services when it counts
   * again. Services that share one keeper never exceed a quota together.
   */
  readonly quotas?: QuotaKeeper
  /** The largest file, in bytes. Default: no limit. */
  readonly maxFileSize?: number
  /** Milliseconds after its last change at which an unfinished upload expires. Default: seven days. */
  readonly uploadExpiryMs?: number
  /** How many uploads in pieces a customer may have begun and not finished. Default: 1,000. */
  readonly maxUnfinishedUploads?: number
  /** A fresh SHA-256, such as `createHash('sha256')`, to check files that come in pieces. Default: `sha256` is refused. */
  readonly createSha256?: () => IncrementalHash
  /** Called after uploads, downloads and deletions. Default: none. */
  readonly hooks?: FileHooks
  /** The current time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number
}

const storeMethods = ['put', 'open', 'stat', 'delete', 'list', 'listDetails', 'usage', 'customers']

const uploadMethods = ['begin', 'state', 'append', 'interrupt', 'declareLength', 'content']
const resumableMethods = [...uploadMethods, 'publish', 'discard', 'list', 'sweep']

/** Much later there are no dates. */
const longestExpiryMs = 1e15

/** @throws TypeError or RangeError that names the option that is missing or wrong */
export function checkOptions(options: FileServiceOptions | undefined): void {
  if (options === undefined)
    throw new TypeError('Options are missing: createFileService({ store })')
  const { store, credentials, maxFileSize, uploadExpiryMs, maxUnfinishedUploads } = options
  requireMethods('store', store, storeMethods)
  if (store.resumable !== undefined) {
    requireMethods('store.resumable', store.resumable, resumableMethods)
  }
  if (credentials !== undefined) requireMethods('credentials', credentials, ['find'])
  requireFunction('verifyPassword', options.verifyPassword)
  requireFunction('createSha256', options.createSha256)
  if (maxFileSize !== undefined) requireCount('maxFileSize', maxFileSize)
  if (maxUnfinishedUploads !== undefined) {
    requireCount('maxUnfinishedUploads', maxUnfinishedUploads, 'uploads')
  }
  if (uploadExpiryMs !== undefined) checkExpiry(uploadExpiryMs)
}

function requireFunction(what: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return
  throw new TypeError(`${what} must be a function`)
}

function checkExpiry(uploadExpiryMs: number): void {
  requireCount('uploadExpiryMs', uploadExpiryMs, 'milliseconds')
  if (uploadExpiryMs >= 1 && uploadExpiryMs <= longestExpiryMs) return
  throw new RangeError(
    `uploadExpiryMs must be from 1 to ${longestExpiryMs} milliseconds, not ${uploadExpiryMs}`,
  )
}
