import { type Customer, hasRights, requireRights } from '../model/customer.ts'
import type { UploadContent } from '../model/upload-content.ts'
import { uploadNotFound } from '../model/upload-rules.ts'
import { withoutNumbers } from '../policy/quota-accounts.ts'
import type { BlobInfo, ListOptions, OpenBlob, OpenOptions, RenameOptions } from '../ports/blob.ts'
import { rights, type Right } from '../ports/credential-source.ts'
import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import type { FileHistory, RestoreOptions } from './kept-files.ts'
import { rightsOf, type Link, type LinkOptions } from './links.ts'
import type { UploadLinkOptions } from './upload-links.ts'
import type { ResumableFiles } from './resumable-files.ts'
import type { UploadOptions } from './upload-file.ts'
import type { CustomerUsage } from './usage-of.ts'

/**
 * The files of one customer, for one of the customer's logins. The use cases document what each call promises. A call for which the login
 * lacks a right rejects with `not-allowed`; where it lacks `replace` only, uploads and renames create only, as if they asked for it.
 * Where it lacks `list`, `quota-exceeded` is without the customer's numbers.
 */
export interface CustomerFiles {
  readonly customer: Customer
  /** Stores a file, and replaces an earlier one of that name; see `uploadFile`. */
  upload(name: string, content: UploadContent, options?: UploadOptions): Promise<BlobInfo>
  /** Opens a file for reading; see `serveFile`. */
  serve(name: string, options?: OpenOptions): Promise<OpenBlob>
  /** Size, time and entity tag of a file; see `statFile`. */
  stat(name: string): Promise<BlobInfo>
  /** Deletes a file; see `deleteFile`. */
  delete(name: string): Promise<void>
  /** Gives a file another name, if the store can do that; see `renameFile`. */
  rename?(name: string, to: string, options?: RenameOptions): Promise<BlobInfo>
  /** The names of the files, in order and in pages; see `listFiles`. */
  list(options?: ListOptions): AsyncIterable<readonly string[]>
  /** Names, sizes, times and entity tags of the files, in order and in pages; see `listFileDetails`. */
  listDetails(options?: ListOptions): AsyncIterable<readonly BlobInfo[]>
  /** How much the customer keeps and how much is allowed; see `usageOf`. */
  usage(): Promise<CustomerUsage>
  /** Earlier versions of the files, and deleted files, if the store and the customer's calls keep them. */
  readonly history?: FileHistory
  /** Makes a link to a file, where the service has links; see `makeLink`. */
  link?(name: string, options?: LinkOptions): Promise<Link>
  /** Makes a link by which others may upload, where the service has links; see `makeUploadLink`. */
  uploadLink?(name: string, options?: UploadLinkOptions): Promise<Link>
  /**
   * Ends all links that the customer has made, where the service has links and the store supports that. When it resolves, this service
   * refuses them, and others on the store do so within half a second. Requests that have begun go on.
   */
  revokeLinks?(): Promise<void>
  /** Uploads that come in pieces, if the store supports them. */
  readonly resumable?: ResumableFiles
}

/** Finds an upload in pieces without ending the requests that add bytes to it. */
type FindUpload = (id: string) => Promise<ResumableUpload | undefined>

/**
 * `files`, whose calls are judged by the rights of the customer's login. The rights are those that the login has now: a call that has
 * begun is completed if they change. It passes nothing on that is not named here, so that a new call is not open to everyone.
 */
export function permittedFiles(files: CustomerFiles, findUpload: FindUpload): CustomerFiles {
  const { customer, resumable, history } = files
  if (customer.login === undefined && customer.may === undefined) return files
  const [rename, link] = [files.rename?.bind(files), files.link?.bind(files)]
  const uploadLink = files.uploadLink?.bind(files)
  const revokeLinks = files.revokeLinks?.bind(files)
  return {
    customer,
    async upload(name, content, options) {
      requireRights(customer, 'create')
      return hidingUsage(customer, files.upload(name, content, creatingOnly(customer, options)))
    },
    async serve(name, options) {
      requireRights(customer, 'read')
      return files.serve(name, options)
    },
    async stat(name) {
      requireRights(customer, 'read')
      return files.stat(name)
    },
    async delete(name) {
      requireRights(customer, 'delete')
      return files.delete(name)
    },
    ...(rename && {
      async rename(name: string, to: string, options?: RenameOptions) {
        requireRights(customer, 'read', 'create', 'delete')
        return rename(name, to, creatingOnly(customer, options))
      },
    }),
    list(options) {
      requireRights(customer, 'list')
      return files.list(options)
    },
    listDetails(options) {
      requireRights(customer, 'list')
      return files.listDetails(options)
    },
    async usage() {
      requireRights(customer, 'list')
      return files.usage()
    },
    ...(history && { history: permittedHistory(customer, history) }),
    ...(link && {
      async link(name: string, options?: LinkOptions) {
        requireRights(customer, ...rightsOf.serve)
        return link(name, options)
      },
    }),
    ...(uploadLink && {
      async uploadLink(name: string, options: UploadLinkOptions = {}) {
        const toReplace: readonly Right[] = options.replace ? ['replace'] : []
        requireRights(customer, ...rightsOf.upload, ...toReplace)
        return uploadLink(name, options)
      },
    }),
    ...(revokeLinks && {
      async revokeLinks() {
        requireRights(customer, ...rights)
        return revokeLinks()
      },
    }),
    ...(resumable && { resumable: permittedUploads(customer, resumable, findUpload) }),
  }
}

/** `options`, but `createOnly` where the login may not replace files. */
function creatingOnly<Options extends { readonly createOnly?: boolean }>(
  customer: Customer,
  options?: Options,
): Options | { readonly createOnly: true } | undefined {
  return hasRights(customer, 'replace') ? options : { ...options, createOnly: true }
}

/** `uploading`, whose refusal has the numbers of the quota only for a login that may ask for `usage`. */
async function hidingUsage<Result>(
  customer: Customer,
  uploading: Promise<Result>,
): Promise<Result> {
  try {
    return await uploading
  } catch (error) {
    throw hasRights(customer, 'list') ? error : withoutNumbers(error)
  }
}

function permittedHistory(customer: Customer, history: FileHistory): FileHistory {
  return {
    versions(name, options) {
      requireRights(customer, 'list')
      return history.versions(name, options)
    },
    deleted(options) {
      requireRights(customer, 'list')
      return history.deleted(options)
    },
    async serve(name, version, options) {
      requireRights(customer, 'read')
      return history.serve(name, version, options)
    },
    async restore(name, options?: RestoreOptions) {
      requireRights(customer, 'read', 'create')
      return hidingUsage(customer, history.restore(name, creatingOnly(customer, options)))
    },
  }
}

/** A further login has only the uploads that it has begun itself. The customer's own login has all. */
function permittedUploads(
  customer: Customer,
  uploads: ResumableFiles,
  findUpload: FindUpload,
): ResumableFiles {
  const isOwn = ({ plan }: ResumableUpload) =>
    customer.login === undefined || plan.login === customer.login

  /** @throws FileServiceError `upload-not-found` for an upload of another login */
  const requireOwn = async (id: string): Promise<ResumableUpload> => {
    requireRights(customer, 'create')
    const upload = await findUpload(id)
    if (upload === undefined || !isOwn(upload)) throw uploadNotFound()
    return upload
  }

  /** For calls that may publish. The login may have lost rights since it has begun the upload. */
  const requirePublishable = async (id: string) => {
    const { plan, published } = await requireOwn(id)
    if (!published && plan.createOnly !== true) requireRights(customer, 'replace')
  }

  return {
    async begin(name, options) {
      requireRights(customer, 'create')
      return hidingUsage(customer, uploads.begin(name, creatingOnly(customer, options)))
    },
    async uploadWhole(name, content, options) {
      requireRights(customer, 'create')
      const createOnly = options.createOnly === true || !hasRights(customer, 'replace')
      const uploading = uploads.uploadWhole(name, content, { ...options, createOnly })
      return hidingUsage(customer, uploading)
    },
    async state(id) {
      await requireOwn(id)
      return uploads.state(id)
    },
    async digest(id, offset, options) {
      await requireOwn(id)
      return uploads.digest(id, offset, options)
    },
    async append(id, offset, content, options) {
      await requirePublishable(id)
      return hidingUsage(customer, uploads.append(id, offset, content, options))
    },
    async publish(id, options) {
      await requirePublishable(id)
      return hidingUsage(customer, uploads.publish(id, options))
    },
    async discard(id) {
      await requireOwn(id)
      return uploads.discard(id)
    },
    async *list() {
      requireRights(customer, 'create')
      for await (const page of uploads.list()) {
        const own = page.filter(isOwn)
        if (own.length > 0) yield own
      }
    },
  }
}
