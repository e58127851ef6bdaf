import { checkCustomer, requireKeeping, type Customer } from './model/customer.ts'
import { notify, watchReading, type FileHooks } from './model/file-hooks.ts'
import {
  createKeyedCounter,
  type UseCounter,
  createKeyedLock,
  createRevocableLocks,
  type RevocableLocks,
} from './model/concurrency.ts'
import {
  requireCount,
  requireMethods,
  having,
  requireFunction,
  requireOptions,
  type OptionCheck,
} from './model/require.ts'
import { noLinkBrake, type LinkBrake, noLoginBrake, type LoginBrake } from './policy/brakes.ts'
import { createPrefixCounts } from './policy/prefix-counts.ts'
import { createQuotaKeeper, type QuotaKeeper } from './policy/quota-keeper.ts'
import {
  createRecentGenerations,
  createRecentValues,
  createRecentMeasurements,
} from './policy/recent-values.ts'
import type { BlobInfo, OpenOptions, RenameOptions, Usage } from './ports/blob.ts'
import type { BlobStore } from './ports/blob-store.ts'
import type { CredentialSource, PasswordVerifier } from './ports/credential-source.ts'
import { authenticate, type Login } from './use-cases/authenticate.ts'
import { permittedFiles, type CustomerFiles } from './use-cases/customer-files.ts'
import {
  deleteFile,
  listFileDetails,
  listFiles,
  renameFile,
  renamePolicy,
  serveFile,
  statFile,
} from './use-cases/stored-files.ts'
import {
  expireFiles,
  noteExpiry,
  type ExpireOptions,
  type ExpiryOutcome,
  type NoteOutcome,
} from './use-cases/expire-files.ts'
import type { IncrementalHash } from './use-cases/expected-digest.ts'
import {
  type PresentedLink,
  makeLink,
  openLink,
  type LinkOptions,
  type OpenedLink,
  type CreateLinkSignature,
} from './use-cases/links.ts'
import {
  listDeleted,
  listVersions,
  restoreFile,
  serveVersion,
  type FileHistory,
  type HistoryPolicy,
  freeKept,
  purgeKept,
  type PurgeOutcome,
} from './use-cases/kept-files.ts'
import {
  makeUploadLink,
  type UploadLinkOptions,
  openUploadLink,
  type LinkUploads,
  type UploadLinkPolicy,
} from './use-cases/upload-links.ts'
import { resumableFiles } from './use-cases/resumable-files.ts'
import { uploadKey, type ResumablePolicy } from './use-cases/resumable-policy.ts'
import { uploadFile } from './use-cases/upload-file.ts'
import { keptOf, usageOf } from './use-cases/usage-of.ts'

/** Opens links. */
export interface FileLinks {
  /** The longest time for which a link is valid, in milliseconds. */
  readonly maxAgeMs: number
  /** Checks a link, and resolves with the customer whose file it opens; see `openLink`. Read the file by `filesOf(customer)`. */
  open(link: PresentedLink): Promise<OpenedLink>
  /** Checks a link, and resolves with the uploads that it allows; see `openUploadLink`. */
  openUpload(link: PresentedLink): Promise<LinkUploads>
  /** Whether customers can end all links that they have made. */
  readonly areRevocable: boolean
}

export interface FileService {
  /**
   * The files of the customer, if the password is right; see `authenticate`.
   * @throws TypeError when the service has no `credentials` or no `verifyPassword`
   */
  authenticate(login: Login): Promise<CustomerFiles>
  /**
   * The files of a customer whom the caller has authenticated.
   * @throws TypeError when the customer's name breaks the policy for names; TypeError or RangeError when a limit is not a number, or
   *   `may` is no list of rights
   */
  filesOf(customer: Customer): CustomerFiles
  /** Opens the links that customers make. Absent unless the options have `links`, and the credentials have `linkKey`. */
  readonly links?: FileLinks
  /** Whether the store supports uploads that come in pieces. */
  readonly isResumable: boolean
  /** Whether the store can rename files. */
  readonly canRename: boolean
  /** Whether the store can keep earlier versions and deleted files; whether it does so depends on the customer. */
  readonly hasHistory: boolean
  /** The largest file in bytes; `undefined` if there is no limit. */
  readonly maxFileSize: number | undefined
  /**
   * Deletes the customer's files that have expired, if the store supports that. Call it every hour for each customer with `expireAfterMs`: a
   * rule that was not applied for three hours counts as new, and then nothing is deleted for a day.
   */
  expireFiles?(customer: Customer, options?: ExpireOptions): Promise<ExpiryOutcome>
  /** Notes that the customer's rule is in force, if the store supports that, for one who waits for `expireFiles`; see `noteExpiry`. */
  noteExpiry?(customer: Customer): Promise<NoteOutcome>
  /** Removes the customer's earlier versions that are too old or exceed `keepQuota`, if the store has a history. Call it every ten minutes. */
  purgeKept?(customer: Customer): Promise<PurgeOutcome>
  /** Removes the oldest earlier versions of all customers until so many bytes are free, if the store has a history; see `freeKept`. */
  freeKept?(bytes: number): Promise<ReadonlyMap<string, Usage>>
  /** Removes the expired uploads of all customers, and resolves with their number. Call it from time to time. */
  sweepUploads(): Promise<number>
}

/** For how many uploads the digest is remembered; some 200 bytes each. */
const mostDigests = 10_000

const weekMs = 7 * 24 * 60 * 60 * 1000

/**
 * Makes the service from a store and other adapters.
 *
 * @throws TypeError or RangeError that names the option that is missing or wrong
 */
export function createFileService(options: FileServiceOptions): FileService {
  checkOptions(options)
  return serviceOf(options)
}

function serviceOf({
  store,
  credentials,
  verifyPassword,
  loginBrake = noLoginBrake,
  maxFileSize = Infinity,
  uploadExpiryMs = weekMs,
  maxUnfinishedUploads = 1_000,
  createSha256,
  links,
  hooks = {},
  keepReplacedMs,
  keepQuota,
  now: clock,
  quotas = createQuotaKeeper(store, clock && { now: clock }),
}: FileServiceOptions): FileService {
  const now = clock ?? Date.now
  const { resumable: uploads, expiry, history } = store
  const keepMsOf = (customer: Customer) => history && (customer.keepReplacedMs ?? keepReplacedMs)
  const keeps = (customer: Customer) => (keepMsOf(customer) ?? 0) > 0
  const measureKept = createRecentMeasurements((customer) => keptOf(store, customer))
  const policy = { store, quotas, maxFileSize, keeps }
  const historyPolicy = history && { store, history, quotas }
  const purgePolicy = history && {
    ...{ history, now, keepMsOf },
    keepQuotaOf: (customer: Customer) => keepQuota ?? customer.quota ?? Infinity,
  }
  const counts = createPrefixCounts(store, clock)
  const notifyUploaded = (customer: Customer, file: BlobInfo) => {
    counts.add(customer.name, file.name)
    if (hooks.onUploaded) notify(() => hooks.onUploaded?.({ customer, file }))
  }
  const renaming = renamePolicy(policy)
  const resumablePolicy: ResumablePolicy | undefined = uploads && {
    ...policy,
    uploads,
    uploadExpiryMs,
    maxUnfinishedUploads,
    ...(createSha256 && { createSha256 }),
    publishing: createKeyedLock(),
    digests: createRecentValues(mostDigests),
    onPublished: notifyUploaded,
  }

  const linkPolicy: UploadLinkPolicy | undefined =
    credentials?.linkKey && links
      ? {
          createSignature: links.createSignature,
          generations: createRecentGenerations(store.linkGenerations, clock),
          brake: links.brake ?? noLinkBrake,
          maxAgeMs: links.maxAgeMs ?? weekMs,
          publishLocks: links.publishLocks ?? createRevocableLocks(false),
          growingUploads: links.growingUploads ?? createKeyedCounter(),
          store,
          credentials,
          linkKey: credentials.linkKey.bind(credentials),
          now,
          upload: policy,
          resumable: resumablePolicy,
          counts,
          underWay: { uploads: createKeyedCounter(), requests: createKeyedCounter() },
          onUploaded: notifyUploaded,
        }
      : undefined

  const filesOf = (customer: Customer): CustomerFiles => {
    checkCustomer(customer)
    const serveAndNotify = async (name: string, options?: OpenOptions) => {
      const blob = await serveFile(store, customer, name, options)
      const { info: file, range } = blob
      if (range === undefined) return blob
      return watchReading(blob, (bytes) =>
        notify(() => hooks.onServed?.({ customer, file, range, bytes })),
      )
    }
    const files: CustomerFiles = {
      customer,
      async upload(name, content, options) {
        const file = await uploadFile(policy, customer, name, content, options)
        notifyUploaded(customer, file)
        return file
      },
      serve: (name, options) =>
        hooks.onServed ? serveAndNotify(name, options) : serveFile(store, customer, name, options),
      stat: (name) => statFile(store, customer, name),
      async delete(name) {
        await deleteFile(policy, customer, name)
        if (hooks.onDeleted) notify(() => hooks.onDeleted?.({ customer, name }))
      },
      ...(renaming && {
        async rename(name: string, to: string, options?: RenameOptions) {
          const file = await renameFile(renaming, customer, name, to, options)
          if (name === to) return file
          counts.add(customer.name, to)
          if (hooks.onRenamed) notify(() => hooks.onRenamed?.({ customer, from: name, file }))
          return file
        },
      }),
      list: (options) => listFiles(store, customer, options),
      listDetails: (options) => listFileDetails(store, customer, options),
      usage: () => usageOf(store, customer, keeps(customer), measureKept),
      ...(historyPolicy && keeps(customer) && { history: historyOf(historyPolicy, customer) }),
      ...(linkPolicy && {
        link: (name: string, options?: LinkOptions) =>
          makeLink(linkPolicy, customer, name, options),
        uploadLink: (name: string, options?: UploadLinkOptions) =>
          makeUploadLink(linkPolicy, customer, name, options),
      }),
      ...(linkPolicy &&
        store.linkGenerations && {
          revokeLinks: () => linkPolicy.generations.renew(customer.name),
        }),
      ...(resumablePolicy && { resumable: resumableFiles(resumablePolicy, customer) }),
    }
    return permittedFiles(files, async (id) => uploads?.state(uploadKey(customer, id)))
  }

  const historyOf = (opened: HistoryPolicy, customer: Customer): FileHistory => ({
    versions: (name, options) => listVersions(opened, customer, name, options),
    deleted: (options) => listDeleted(opened, customer, options),
    serve: (name, version, options) => serveVersion(opened, customer, name, version, options),
    async restore(name, options = {}) {
      const file = await restoreFile(opened, customer, name, options)
      counts.add(customer.name, file.name)
      if (hooks.onRestored) {
        const { version } = options
        const restoration = {
          customer,
          from: name,
          file,
          ...(version !== undefined && { version }),
        }
        notify(() => hooks.onRestored?.(restoration))
      }
      return file
    },
  })

  return {
    async authenticate(login) {
      if (credentials === undefined || verifyPassword === undefined) throw noLogin()
      return filesOf(await authenticate(credentials, verifyPassword, loginBrake, login, now))
    },
    filesOf,
    ...(linkPolicy && {
      links: {
        maxAgeMs: linkPolicy.maxAgeMs,
        areRevocable: store.linkGenerations !== undefined,
        open: (link: PresentedLink) => openLink(linkPolicy, link),
        openUpload: (link: PresentedLink) => openUploadLink(linkPolicy, link),
      },
    }),
    isResumable: uploads !== undefined,
    canRename: renaming !== undefined,
    hasHistory: history !== undefined,
    maxFileSize: maxFileSize === Infinity ? undefined : maxFileSize,
    ...(expiry && {
      async expireFiles(customer: Customer, options?: ExpireOptions) {
        checkCustomer(customer)
        return expireFiles({ store, expiry, quotas, now, keeps }, customer, options)
      },
      async noteExpiry(customer: Customer) {
        checkCustomer(customer)
        return noteExpiry({ expiry, now }, customer)
      },
    }),
    ...(purgePolicy && {
      async purgeKept(customer: Customer) {
        checkCustomer(customer)
        return purgeKept(purgePolicy, customer)
      },
      freeKept: (bytes: number) => freeKept(purgePolicy, bytes),
    }),
    async sweepUploads() {
      const removed = (await uploads?.sweep(new Date(now()))) ?? 0
      if (removed > 0) await quotas.releaseGone()
      return removed
    },
  }
}

function noLogin(): TypeError {
  return new TypeError(
    'No customer can log in: give createFileService credentials and verifyPassword, or authenticate the customer yourself and call filesOf({ name })',
  )
}

export interface FileServiceOptions {
  readonly store: BlobStore
  /**
   * The customers who may log in. Default: `authenticate` fails. An application that authenticates by itself needs none, and uses
   * `filesOf`.
   */
  readonly credentials?: CredentialSource
  /** Checks passwords against the hashes of `credentials`. Default: `authenticate` fails. */
  readonly verifyPassword?: PasswordVerifier
  /** Limits failed logins. Default: no limit; see `createLoginBrake`. */
  readonly loginBrake?: LoginBrake
  /**
   * Enforces quotas. Default: a keeper for this service only, which sees the changes of other services when it counts again.
   * Services that share one keeper never exceed a quota together.
   */
  readonly quotas?: QuotaKeeper
  /** The largest file, in bytes. Default: no limit. */
  readonly maxFileSize?: number
  /** How long after its last change an unfinished upload expires, in milliseconds. Default: seven days. */
  readonly uploadExpiryMs?: number
  /** How many unfinished uploads in pieces a customer may have. Default: 1,000. */
  readonly maxUnfinishedUploads?: number
  /** A fresh SHA-256, such as `createHash('sha256')`, to check files that come in pieces. Default: `sha256` is refused. */
  readonly createSha256?: () => IncrementalHash
  /** The options of links. Default: there are no links. There are none either if `credentials` has no `linkKey`. */
  readonly links?: LinkServiceOptions
  /**
   * How long earlier versions and deleted files can be restored, in milliseconds, if the store has a history and the customer has no
   * `keepReplacedMs`. 0: no more are kept, and the present ones are removed. Default: no more are kept, and the present ones stay.
   */
  readonly keepReplacedMs?: number
  /** The most bytes of a customer's earlier versions and deleted files; the oldest are removed first. Default: the quota. */
  readonly keepQuota?: number
  /** Called after uploads, downloads, deletions, renames and restorations. Default: none. */
  readonly hooks?: FileHooks
  /**
   * The current time in milliseconds. Default: `Date.now`, but `performance.now` for the ages of counts, since the system's clock
   * can be set back.
   */
  readonly now?: () => number
}

export interface LinkServiceOptions {
  /** Signs links, such as `(key) => createHmac('sha256', key)`. */
  readonly createSignature: CreateLinkSignature
  /** The longest time for which a link is valid, in milliseconds. Default: seven days. */
  readonly maxAgeMs?: number
  /** Limits attempts with wrong links. Default: no limit; see `createLinkBrake`. */
  readonly brake?: LinkBrake
  /**
   * Locks by customer. An upload by a link with `maxFiles` holds the lock while it counts the files and is published. Default: locks
   * of this service only. Services that share the locks never exceed `maxFiles` together.
   */
  readonly publishLocks?: RevocableLocks
  /**
   * Counts, by upload, the requests that are adding bytes to uploads by links: such an upload is not removed to make room for
   * another. Default: a counter of this service only.
   */
  readonly growingUploads?: UseCounter
}

const storeMethods = ['put', 'open', 'stat', 'delete', 'list', 'listDetails', 'usage', 'customers']

const historyMethods = ['versions', 'deleted', 'kept', 'open', 'restore', 'purge', 'customers']

const uploadMethods = ['begin', 'state', 'append', 'interrupt', 'declareLength', 'content']
const resumableMethods = [...uploadMethods, 'publish', 'remember', 'discard', 'list', 'sweep']

/** The longest allowed period; beyond some 8.6e15 ms, JavaScript has no dates. */
const longestPeriodMs = 1e15

/** @throws TypeError or RangeError that names the option that is missing or wrong */
function checkOptions(options: FileServiceOptions): void {
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
    'keepReplacedMs?': requireKeeping,
    'keepQuota?': requireCount,
    'links?': having(),
    'hooks?': having(),
    'now?': requireFunction,
  })
  if (options.links === undefined) return
  requireOptions('createFileService({ links: { createSignature } })', options.links, {
    createSignature: requireFunction,
    'maxAgeMs?': requirePeriod,
    'brake?': having('attempt'),
    'publishLocks?': requireFunction,
    'growingUploads?': having('count', 'change'),
  })
}

/** Checks a store, and its uploads in pieces if it has them. */
const requireStore: OptionCheck = (what, value) => {
  requireMethods(what, value, storeMethods)
  const { resumable, linkGenerations, expiry, history } = value as Partial<BlobStore>
  if (resumable !== undefined) requireMethods(`${what}.resumable`, resumable, resumableMethods)
  if (linkGenerations !== undefined) {
    requireMethods(`${what}.linkGenerations`, linkGenerations, ['read', 'renew'])
  }
  if (expiry !== undefined) {
    requireMethods(`${what}.expiry`, expiry, ['deleteUnchanged', 'readNote', 'writeNote'])
  }
  if (history !== undefined) requireMethods(`${what}.history`, history, historyMethods)
}

const requirePeriod: OptionCheck = (what, value) => {
  requireCount(what, value, 'milliseconds')
  if (value >= 1 && value <= longestPeriodMs) return
  throw new RangeError(`${what} must be from 1 to ${longestPeriodMs} milliseconds, not ${value}`)
}
