import type { FileHooks } from './model/file-hooks.ts'
import type { UseCounter } from './model/keyed-counter.ts'
import type { KeyedTurns } from './model/keyed-lock.ts'
import {
  requireCount,
  requireMethods,
  having,
  requireFunction,
  requireOptions,
  type OptionCheck,
} from './model/require.ts'
import type { LinkBrake } from './policy/link-brake.ts'
import type { LoginBrake } from './policy/login-brake.ts'
import type { QuotaKeeper } from './policy/quota-keeper.ts'
import type { BlobStore } from './ports/blob-store.ts'
import type { CredentialSource, PasswordVerifier } from './ports/credential-source.ts'
import type { IncrementalHash } from './use-cases/expected-digest.ts'
import type { CreateLinkSignature } from './use-cases/link-policy.ts'

export interface FileServiceOptions {
  readonly store: BlobStore
  /** The customers who may log in. Default: `authenticate` fails, for applications that find out who asks and use `filesOf`. */
  readonly credentials?: CredentialSource
  /** Checks passwords against the hashes of `credentials`. Default: `authenticate` fails. */
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
  /**
   * Signs links, such as `(key) => createHmac('sha256', key)`. Default: there are no links, as with `credentials` that have no
   * `linkKey`.
   */
  readonly createLinkSignature?: CreateLinkSignature
  /** The longest time for which a link is good, in milliseconds. Default: seven days. */
  readonly maxLinkAgeMs?: number
  /** Limits wrong links. Default: no limit; see `createLinkBrake`. */
  readonly linkBrake?: LinkBrake
  /**
   * Gives uploads by links with `maxFiles` their turns, by customer. Default: a lock of this service alone. Services that share
   * one never exceed `maxFiles` together.
   */
  readonly linkTurns?: KeyedTurns
  /**
   * Counts the requests that add to uploads by links, which keep those from making room for others. Default: a counter of this
   * service alone.
   */
  readonly linkAppends?: UseCounter
  /** Called after uploads, downloads and deletions. Default: none. */
  readonly hooks?: FileHooks
  /** The current time in milliseconds. Default: `Date.now`; for the ages of counts `performance.now`, since a clock can be set back. */
  readonly now?: () => number
}

const storeMethods = ['put', 'open', 'stat', 'delete', 'list', 'listDetails', 'usage', 'customers']

const uploadMethods = ['begin', 'state', 'append', 'interrupt', 'declareLength', 'content']
const resumableMethods = [...uploadMethods, 'publish', 'remember', 'discard', 'list', 'sweep']

/** Much later there are no dates. */
const longestPeriodMs = 1e15

/** @throws TypeError or RangeError that names the option that is missing or wrong */
export function checkOptions(options: FileServiceOptions): void {
  requireOptions('createFileService({ store })', options, {
    store: requireStore,
    'credentials?': having('find'),
    'verifyPassword?': requireFunction,
    'loginBrake?': having('attempt'),
    'quotas?': having('claim'),
    'maxFileSize?': requireCount,
    'uploadExpiryMs?': requirePeriod,
    'maxUnfinishedUploads?': (what, value) => requireCount(what, value, 'uploads'),
    'createSha256?': requireFunction,
    'createLinkSignature?': requireFunction,
    'maxLinkAgeMs?': requirePeriod,
    'linkBrake?': having('attempt'),
    'linkTurns?': requireFunction,
    'linkAppends?': having('count', 'change'),
    'hooks?': having(),
    'now?': requireFunction,
  })
}

/** With its uploads in pieces, if it has them. */
const requireStore: OptionCheck = (what, value) => {
  requireMethods(what, value, storeMethods)
  const { resumable } = value as Partial<BlobStore>
  if (resumable !== undefined) requireMethods(`${what}.resumable`, resumable, resumableMethods)
}

const requirePeriod: OptionCheck = (what, value) => {
  requireCount(what, value, 'milliseconds')
  if (value >= 1 && value <= longestPeriodMs) return
  throw new RangeError(`${what} must be from 1 to ${longestPeriodMs} milliseconds, not ${value}`)
}
