import {
  FileServiceError,
  type BeginOptions,
  type ResumableFiles,
  type ResumableUpload,
  type UploadWholeOptions,
} from '@holdfast/core'
import { announcedSize, hasBody, headerOf } from './request.ts'
import {
  appendBody,
  parseChecksum,
  storeBody,
  progressHeaders,
  requireContentType,
  tusProblems,
  wholeNumber,
  type TusAnswer,
  type TusRequest,
} from './tus-request.ts'

export interface CreationOptions {
  /** The name of the new file. Default: the value of `filename`, or else of `name`. */
  readonly fileName?: (metadata: UploadMetadata) => string | undefined
  /**
   * The URL of a new upload, absolute or relative to the request's. Default: relative, so that it is right even if a proxy changes
   * paths, schemes or hosts; with the request's `query`.
   */
  readonly location?: (id: string, request: TusRequest) => string
}

/** POST: begins an upload, with its first bytes if the request has a body. */
export async function createUpload(
  files: ResumableFiles,
  request: TusRequest,
  { fileName = usualFileName, location = relativeLocation }: CreationOptions,
): Promise<TusAnswer> {
  if (headerOf(request, 'upload-concat') !== undefined) {
    throw tusProblems.invalidHeader('upload-concat', 'uploads cannot be joined')
  }
  const length = lengthOf(request)
  const metadata = parseUploadMetadata(headerOf(request, 'upload-metadata') ?? '')
  const name = fileName(metadata)
  if (name === undefined) throw tusProblems.noFileName()
  request.onName?.(name)
  checkBody(request, length)
  const plan = {
    createOnly: isCreateOnly(request),
    ...sha256Of(metadata),
    ...(metadata.header !== '' && { note: metadata.header }),
  }
  const size = hasBody(request) ? announcedSize(request) : 0
  const upload =
    length !== undefined && length === size
      ? await storeWhole(files, request, name, { ...plan, length })
      : await begin(files, request, name, { ...plan, ...(length !== undefined && { length }) })
  return {
    status: 201,
    headers: { Location: location(upload.id, request), ...progressHeaders(upload) },
    upload,
    hasPublished: upload.published !== undefined,
  }
}

const usualFileName = (metadata: UploadMetadata) =>
  metadata.text('filename') ?? metadata.text('name')

function relativeLocation(id: string, { path, query = '' }: TusRequest): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  if (last === '') return id + query
  // RFC 3986 §4.2: the part before a colon would be read as a scheme.
  return `${last.includes(':') ? './' : ''}${last}/${id}${query}`
}

/** The length of the whole file; `undefined` if it is deferred. */
function lengthOf(request: TusRequest): number | undefined {
  const length = wholeNumber(request, 'upload-length')
  const deferred = headerOf(request, 'upload-defer-length')
  if (deferred === undefined) {
    if (length !== undefined) return length
    throw tusProblems.invalidHeader('upload-length', 'it is missing, and so is upload-defer-length')
  }
  if (deferred !== '1') throw tusProblems.invalidHeader('upload-defer-length', 'it must be 1')
  if (length === undefined) return undefined
  throw tusProblems.invalidHeader('upload-defer-length', 'upload-length was sent, too')
}

/** Refuses a body that cannot be added, before the upload begins: an empty file would be published at once. */
function checkBody(request: TusRequest, length: number | undefined): void {
  if (!hasBody(request)) return
  requireContentType(request)
  parseChecksum(request)
  const size = announcedSize(request) ?? 1
  if (length !== undefined && size > length) {
    throw new FileServiceError('file-too-large', `The body exceeds the length of ${length} bytes`)
  }
}

/** Whether the file must not replace another one (RFC 9110 §13.1.2). */
function isCreateOnly(request: TusRequest): boolean {
  for (const header of ['if-match', 'if-unmodified-since']) {
    if (headerOf(request, header) !== undefined) {
      throw tusProblems.invalidHeader(header, 'uploads support only "If-None-Match: *"')
    }
  }
  const condition = headerOf(request, 'if-none-match')
  if (condition === undefined || condition === '*') return condition === '*'
  throw tusProblems.invalidHeader('if-none-match', 'uploads support only "*"')
}

function sha256Of(metadata: UploadMetadata): { readonly sha256?: string } {
  const sha256 = metadata.text('sha256')
  if (sha256 === undefined) return {}
  if (!/^[0-9a-f]{64}$/i.test(sha256)) {
    throw tusProblems.invalidField('sha256', 'it must be sent once, as 64 hexadecimal digits')
  }
  return { sha256: sha256.toLowerCase() }
}

/** Stores the body, which is the whole file. The checksum of an empty file is not compared, as without a body. */
async function storeWhole(
  files: ResumableFiles,
  request: TusRequest,
  name: string,
  options: UploadWholeOptions,
): Promise<ResumableUpload> {
  if (options.length === 0) return files.uploadWhole(name, '', options)
  return storeBody(request, (body) =>
    files.uploadWhole(name, request.content(), { ...options, ...body }),
  )
}

/** Begins an upload, and adds the body. If that fails, the upload is discarded: its client never gets its URL. */
async function begin(
  files: ResumableFiles,
  request: TusRequest,
  name: string,
  options: BeginOptions,
): Promise<ResumableUpload> {
  const begun = await files.begin(name, options)
  if (!hasBody(request)) return begun
  try {
    return await appendBody(files, request, { id: begun.id, offset: 0 })
  } catch (error) {
    await files.discard(begun.id).catch(() => {})
    throw error
  }
}

/** The client's data about a file in `Upload-Metadata`. */
export interface UploadMetadata {
  /** The header as it was sent. */
  readonly header: string
  /**
   * The text of a key; `undefined` if the client did not send it.
   * @throws HttpProblem 400 when the value is not UTF-8
   */
  text(key: string): string | undefined
}

/** The longest header in bytes: stores keep it as a note, which may be that long. */
const maxHeaderBytes = 4096

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads `Upload-Metadata`: pairs of a key and a value in Base64, with a space between them and commas between the pairs.
 *
 * @throws HttpProblem 400 when it has another form, has a key twice, or is longer than {@link maxHeaderBytes}
 */
function parseUploadMetadata(header: string): UploadMetadata {
  if (Buffer.byteLength(header) > maxHeaderBytes) {
    throw invalid(`it is longer than ${maxHeaderBytes} bytes`)
  }
  const values = new Map<string, string>()
  for (const pair of header === '' ? [] : header.split(',')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ')
    if (key === '') throw invalid('a key is empty')
    if (values.has(key)) throw invalid('a key occurs twice')
    if (more.length > 0 || !base64.test(value)) throw invalid('a value is not Base64')
    values.set(key, value)
  }
  return {
    header,
    text(key) {
      const value = values.get(key)
      return value === undefined ? undefined : decode(value)
    },
  }
}

function decode(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'base64'))
  } catch {
    throw invalid('a value is not UTF-8')
  }
}

function invalid(reason: string) {
  return tusProblems.invalidHeader('upload-metadata', reason)
}
