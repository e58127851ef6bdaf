import { checkCustomer } from './model/check-customer.ts'
import type { Customer } from './model/customer.ts'
import { notify, watchReading, type FileHooks } from './model/file-hooks.ts'
import { noLoginBrake, type LoginBrake } from './policy/login-brake.ts'
import { createQuotaKeeper, type QuotaKeeper } from './policy/quota-keeper.ts'
import { requireCount, requireMethods } from './model/require.ts'
import type { UploadContent } from './model/upload-content.ts'
import type { BlobInfo } from './ports/blob-info.ts'
import type { BlobStore, ListOptions, OpenBlob, OpenOptions } from './ports/blob-store.ts'
import type { CredentialSource, PasswordVerifier } from './ports/credential-source.ts'
import { authenticate, type Login } from './use-cases/authenticate.ts'
import { deleteFile } from './use-cases/delete-file.ts'
import { listFileDetails, listFiles } from './use-cases/list-files.ts'
import { serveFile, statFile } from './use-cases/serve-file.ts'
import { uploadFile, type UploadOptions } from './use-cases/upload-file.ts'

/** The files of one customer: what an application works with. See the use cases for what each call promises. */
export interface CustomerFiles {
  readonly customer: Customer
  /** Stores a file, in place of any earlier one; see `uploadFile`. */
  upload(name: string, content: UploadContent, options?: UploadOptions): Promise<BlobInfo>
  /** Opens a file for reading; see `serveFile`. */
  serve(name: string, options?: OpenOptions): Promise<OpenBlob>
  /** What is known of a file; see `statFile`. */
  stat(name: string): Promise<BlobInfo>
  /** Deletes a file; see `deleteFile`. */
  delete(name: string): Promise<void>
  /** The names of the files, in order and in pages; see `listFiles`. */
  list(options?: ListOptions): AsyncIterable<readonly string[]>
  /** Names, sizes, times and entity tags of the files, in order and in pages; see `listFileDetails`. */
  listDetails(options?: ListOptions): AsyncIterable<readonly BlobInfo[]>
}

export interface FileService {
  /** The files of the customer, if the password is right; see `authenticate`. */
  authenticate(login: Login): Promise<CustomerFiles>
  /**
   * The files of a customer whom the caller has authenticated.
   * @throws TypeError when the customer's name breaks the policy for names, TypeError or RangeError when the quota is no
   *   number of bytes
   */
  filesOf(customer: Customer): CustomerFiles
}

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
  /** Called after uploads, downloads and deletions. Default: none. */
  readonly hooks?: FileHooks
  /** The current time in milliseconds. Default: `Date.now`. */
  readonly now?: () => number
}

const noCustomers: CredentialSource = { find: async () => undefined }

const storeMethods = ['put', 'open', 'stat', 'delete', 'list', 'listDetails', 'usage', 'customers']

/**
 * The service, over the ports it is given.
 *
 * @throws TypeError or RangeError that names the option that is missing or wrong
 */
export function createFileService(options: FileServiceOptions): FileService {
  checkOptions(options)
  return serviceOf(options)
}

function checkOptions(options: FileServiceOptions | undefined): void {
  if (options === undefined)
    throw new TypeError('Options are missing: createFileService({ store })')
  const { store, credentials, verifyPassword, maxFileSize } = options
  requireMethods('store', store, storeMethods)
  if (credentials !== undefined) requireMethods('credentials', credentials, ['find'])
  if (verifyPassword !== undefined && typeof verifyPassword !== 'function') {
    throw new TypeError('verifyPassword must be a function')
  }
  if (maxFileSize !== undefined) requireCount('maxFileSize', maxFileSize)
}

function serviceOf({
  store,
  credentials = noCustomers,
  verifyPassword = async () => false,
  loginBrake = noLoginBrake,
  maxFileSize = Infinity,
  hooks = {},
  now = Date.now,
  quotas = createQuotaKeeper(store, { now }),
}: FileServiceOptions): FileService {
  const policy = { store, quotas, maxFileSize }

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
    return {
      customer,
      async upload(name, content, options) {
        const file = await uploadFile(policy, customer, name, content, options)
        if (hooks.onUploaded) notify(() => hooks.onUploaded?.({ customer, file }))
        return file
      },
      serve: (name, options) =>
        hooks.onServed ? serveAndNotify(name, options) : serveFile(store, customer, name, options),
      stat: (name) => statFile(store, customer, name),
      async delete(name) {
        await deleteFile(store, quotas, customer, name)
        if (hooks.onDeleted) notify(() => hooks.onDeleted?.({ customer, name }))
      },
      list: (options) => listFiles(store, customer, options),
      listDetails: (options) => listFileDetails(store, customer, options),
    }
  }

  return {
    authenticate: async (login) =>
      filesOf(await authenticate(credentials, verifyPassword, loginBrake, login)),
    filesOf,
  }
}
