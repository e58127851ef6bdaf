import {
  isFileServiceError,
  requireCount,
  requireOptions,
  type AppendUploadOptions,
  type BeginOptions,
  type ResumableFiles,
  type ResumableUpload,
} from '@holdfast/core'
import {
  bytesIn,
  draftProblems,
  interopVersion,
  lengthOf,
  speaksVersion,
  uploadComplete,
  uploadLimit,
  type DraftAnswer,
  type DraftRequest,
} from './draft-request.ts'
import { announcedSize, isOfType } from './request.ts'

export interface DraftOptions {
  /** The largest file in bytes, for `Upload-Limit`; the service enforces it. Default: the header does not name it. */
  readonly maxFileSize?: number | undefined
}

/** The options of a new file, and the URL of its upload. */
export interface CreationOfFile extends Pick<BeginOptions, 'createOnly' | 'sha256'> {
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
