import {
  isFileServiceError,
  requireCount,
  requireOptions,
  type AppendUploadOptions,
  type BeginOptions,
  type ResumableFiles,
  type ResumableUpload,
  type ExpectedDigest,
} from '@holdfast/core'
import { HttpProblem, announcedSize, isOfType, headerOf, type ProtocolRequest } from './request.ts'

export interface DraftOptions {
  /** The largest file in bytes, for `Upload-Limit`; the service enforces it. Default: the header does not name it. */
  readonly maxFileSize?: number | undefined
}

/** The options of a new file, and the URL of its upload. */
interface CreationOfFile extends Pick<BeginOptions, 'createOnly' | 'sha256'> {
  /** The URL of the upload `id`, absolute or relative to the request's. */
  readonly location: (id: string) => string
}

/** The IETF's draft of resumable uploads, for the uploads of customers. */
export interface Draft {
  /** The value of `Upload-Limit`, for the answer to OPTIONS. */
  readonly limit: string
  /** Whether a request to store a file asks for the draft, in the supported version. */
  isCreation(request: Pick<DraftRequest, 'headers'>): boolean
  /**
   * "Upload Creation": begins the upload of the file `name`, and stores the content of the request.
   *
   * @throws HttpProblem, FileServiceError, and the errors of the request's content
   */
  create(
    files: ResumableFiles,
    name: string,
    options: CreationOfFile,
    request: DraftRequest,
  ): Promise<DraftAnswer>
  /** "Offset Retrieval": HEAD and GET. @throws FileServiceError `upload-not-found` */
  retrieve(files: ResumableFiles, id: string): Promise<DraftAnswer>
  /** "Upload Append": PATCH. @throws HttpProblem, FileServiceError, and the errors of the request's content */
  append(files: ResumableFiles, id: string, request: DraftRequest): Promise<DraftAnswer>
  /** "Upload Cancellation": DELETE. @throws FileServiceError `upload-not-found` */
  cancel(files: ResumableFiles, id: string): Promise<DraftAnswer>
}

/** Makes a {@link Draft}. */
export function createDraft(options: DraftOptions = {}): Draft {
  requireOptions('createDraft({ maxFileSize })', options, { 'maxFileSize?': requireCount })
  const { maxFileSize } = options
  const limitOf = (upload?: ResumableUpload) => uploadLimit(maxFileSize, upload)

  const answerTo = (upload: ResumableUpload, status: number): DraftAnswer =>
    upload.published === undefined
      ? {
          status,
          headers: {
            'Upload-Complete': '?0',
            'Upload-Offset': String(upload.offset),
            'Upload-Limit': limitOf(upload),
          },
          upload,
        }
      : { status: 200, headers: { 'Upload-Complete': '?1' }, upload }

  return {
    limit: limitOf(),

    isCreation: (request) => uploadComplete(request) !== undefined && speaksVersion(request),

    async create(files, name, { location, ...options }, request) {
      const length = lengthOf(request, 0)
      // "Length": an upload with all of its bytes is complete only after its client has said so.
      const isOpen = length === 0 && uploadComplete(request) === false
      const begun = await files.begin(name, {
        ...options,
        ...(length !== undefined && !isOpen && { length }),
      })
      const creation = { Location: location(begun.id), 'Upload-Limit': limitOf(begun) }
      request.inform({ ...creation, 'Upload-Draft-Interop-Version': interopVersion })
      const upload = begun.published ? begun : await storePart(files, begun, request)
      const { headers, ...answer } = answerTo(upload, 201)
      return { ...answer, headers: { ...headers, ...(!upload.published && creation) } }
    },

    async retrieve(files, id) {
      const upload = await files.state(id)
      const { offset, plan } = upload
      return {
        status: 204,
        headers: {
          'Upload-Complete': upload.published ? '?1' : '?0',
          'Upload-Offset': String(offset),
          ...(plan.length !== undefined && { 'Upload-Length': String(plan.length) }),
          'Upload-Limit': limitOf(upload),
          'Cache-Control': 'no-store',
        },
        upload,
      }
    },

    async append(files, id, request) {
      requireContentType(request)
      const isLast = uploadComplete(request)
      const offset = bytesIn(request, 'upload-offset')
      if (isLast === undefined) throw missing('upload-complete')
      if (offset === undefined) throw missing('upload-offset')
      const found = await files.state(id)
      // The answer to the last append may have been lost.
      const isRepeated = found.published !== undefined && isLast && announcedSize(request) === 0
      if (offset !== found.offset || (found.published && !isRepeated)) {
        throw draftProblems.otherOffset(found.offset)
      }
      return answerTo(found.published ? found : await storePart(files, found, request), 204)
    },

    async cancel(files, id) {
      await files.discard(id)
      return { status: 204, headers: {} }
    },
  }
}

function requireContentType(request: DraftRequest): void {
  if (!isOfType(request, 'application/partial-upload')) throw draftProblems.unknownContentType()
}

function missing(header: string): Error {
  return draftProblems.invalidHeader(header, 'it is missing, or cannot be read')
}

/** The shortest time between two reports, in milliseconds. */
const reportPauseMs = 1_000

/** Adds the content of `request` to an upload, and publishes the file if the content was its rest. */
async function storePart(
  files: ResumableFiles,
  { id, offset, plan }: ResumableUpload,
  request: DraftRequest,
): Promise<ResumableUpload> {
  const length = lengthOf(request, offset, plan.length)
  const stored = await files
    .append(
      id,
      offset,
      request.content(),
      optionsOf(request, plan.length === undefined ? length : undefined),
    )
    .catch(async (error: unknown) => {
      // "Upload Append": an upload that exceeds its length becomes invalid.
      if (isFileServiceError(error, 'file-too-large')) await files.discard(id).catch(() => {})
      throw error
    })
  if (stored.published || uploadComplete(request) !== true) return stored
  if (stored.plan.length !== undefined) throw draftProblems.inconsistentLength()
  return files.publish(id)
}

function optionsOf(request: DraftRequest, length: number | undefined): AppendUploadOptions {
  const size = announcedSize(request)
  const { digest, release } = request
  return {
    isPartial: uploadComplete(request) === false,
    onState: progressTo(request),
    ...(length !== undefined && { length }),
    ...(size !== undefined && { size }),
    ...(digest && { digest }),
    ...(release && { release }),
  }
}

/** Makes a function that reports to the client how many of its bytes are durable, while they arrive. */
function progressTo(request: DraftRequest): (upload: ResumableUpload) => void {
  let last: number | undefined
  let reportedAt = -Infinity
  return ({ offset }) => {
    const isNews = offset > (last ??= offset) && performance.now() - reportedAt >= reportPauseMs
    if (!isNews || !speaksVersion(request)) return
    last = offset
    reportedAt = performance.now()
    request.inform({
      'Upload-Offset': String(offset),
      'Upload-Draft-Interop-Version': interopVersion,
    })
  }
}

/** A request of the draft "Resumable Uploads for HTTP", independent of the server that received it. */
export interface DraftRequest extends ProtocolRequest {
  /** The digest of this request's content, if the client sent one (`Content-Digest`). */
  readonly digest?: ExpectedDigest | undefined
  /** Sends the interim response 104 with these headers, if the server can. */
  inform(headers: Readonly<Record<string, string>>): void
}

/** The answer to a request of the draft. */
export interface DraftAnswer {
  /** 200 if the file was published: then the server answers as for a plain upload of the file. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload of the request; `published` is set if the file was published. */
  readonly upload?: ResumableUpload
}

/**
 * The supported text: draft-ietf-httpbis-resumable-upload, interop version 8 (editors' copy of 1 July 2026). The comments name its
 * sections.
 */
const interopVersion = '8'

/**
 * An Item of Structured Fields (RFC 9651 §3.1.2) may have parameters, which are ignored here. A header that was sent twice is not an
 * Item: it has a comma outside of a quoted string.
 */
const quoted = String.raw`"(?:[^"\\]|\\["\\])*"`
const parameters = String.raw`(?:; *[a-z*][a-z0-9_.*-]*(?:=(?:${quoted}|[^\s",;]+))?)*$`
const booleanItem = new RegExp(`^\\?([01])${parameters}`)
const integerItem = new RegExp(`^(\\d{1,15})${parameters}`)

/** Whether the client uses the supported version of the draft. */
function speaksVersion(request: Pick<DraftRequest, 'headers'>): boolean {
  return headerOf(request, 'upload-draft-interop-version') === interopVersion
}

/** "Completeness": whether the request's content is the rest of the file; `undefined` without a valid header. */
function uploadComplete(request: Pick<DraftRequest, 'headers'>): boolean | undefined {
  return booleanIn(request, 'upload-complete')
}

/**
 * The header by which a request says that its content is only a part of the file, or a header that may say so but cannot be read;
 * `undefined` if there is none. Drafts before the fourth had `Upload-Incomplete`.
 */
export function headerOfPart(request: Pick<DraftRequest, 'headers'>): string | undefined {
  const whole = { 'upload-complete': true, 'upload-incomplete': false }
  return Object.entries(whole).find(
    ([header, value]) =>
      headerOf(request, header) !== undefined && booleanIn(request, header) !== value,
  )?.[0]
}

function booleanIn(request: Pick<DraftRequest, 'headers'>, header: string): boolean | undefined {
  const digit = booleanItem.exec(headerOf(request, header) ?? '')?.[1]
  return digit === undefined ? undefined : digit === '1'
}

/** "Offset" and "Length": a number of bytes; `undefined` without a valid header, as the draft demands. */
function bytesIn(
  request: DraftRequest,
  header: 'upload-offset' | 'upload-length',
): number | undefined {
  const digits = integerItem.exec(headerOf(request, header) ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * "Length": the length of the whole file by a request at `offset`; `undefined` if neither the request nor `known` says it.
 *
 * @throws HttpProblem 400 when the lengths in the request, and the `known` length of the upload, differ
 */
export function lengthOf(
  request: DraftRequest,
  offset: number,
  known?: number,
): number | undefined {
  const size = uploadComplete(request) === true ? announcedSize(request) : undefined
  const rest = size === undefined ? undefined : offset + size
  const lengths = new Set([known, bytesIn(request, 'upload-length'), rest])
  lengths.delete(undefined)
  if (lengths.size > 1) throw draftProblems.inconsistentLength()
  return [...lengths][0]
}

/** "Limits": how large a file may be, and how long an upload is kept, in seconds. */
function uploadLimit(maxFileSize: number | undefined, upload?: ResumableUpload): string {
  const limits = [
    ...(maxFileSize === undefined ? [] : [`max-size=${maxFileSize}`]),
    ...(upload === undefined ? [] : [`max-age=${secondsUntil(upload.expiresAt)}`]),
  ]
  return limits.length === 0 ? 'min-size=0' : limits.join(', ')
}

function secondsUntil(time: Date): number {
  return Math.max(0, Math.floor((time.getTime() - Date.now()) / 1000))
}

/**
 * "Completeness" of the answer to a request that failed with `error`: `?1` if the upload has ended. A wrong digest of the whole
 * file, and more bytes than the file's length, end it.
 */
export function completenessAfter(
  error: unknown,
  { digest }: Pick<DraftRequest, 'digest'>,
): string {
  const isDigestOfFile = isFileServiceError(error, 'digest-mismatch') && digest === undefined
  return isDigestOfFile || isFileServiceError(error, 'file-too-large') ? '?1' : '?0'
}

/** The header of every refusal that does not end the upload ("Completeness"). */
const incomplete = { 'Upload-Complete': '?0' }

/** The errors with the words of docs/api.md. */
const draftProblems = {
  invalidHeader: (header: string, reason: string) =>
    new HttpProblem('invalid-header', 400, `Invalid ${header}: ${reason}`, incomplete),
  unknownContentType: () =>
    new HttpProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/partial-upload',
      incomplete,
    ),
  inconsistentLength: () =>
    draftProblems.invalidHeader('upload-length', 'the lengths of the upload differ'),
  /** "Upload Append" demands the right offset in the answer. */
  otherOffset: (offset: number) =>
    new HttpProblem('upload-conflict', 409, 'Upload conflict', {
      ...incomplete,
      'Upload-Offset': String(offset),
    }),
} as const
