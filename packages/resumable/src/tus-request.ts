import { createHash } from 'node:crypto'
import {
  type ResumableUpload,
  isFileServiceError,
  type AppendUploadOptions,
  type ExpectedDigest,
  type FinishedUpload,
  type ResumableFiles,
} from '@holdfast/core'
import { HttpProblem, headerOf, isOfType, type ProtocolRequest, announcedSize } from './request.ts'

/** A request of the tus protocol, independent of the server that received it. */
export interface TusRequest extends ProtocolRequest {
  readonly method: string
  /** The path as the client sent it, without the query. */
  readonly path: string
  /** The id of the upload, after the path for creation; `undefined` at that path itself. */
  readonly id: string | undefined
  /** The query for the URL of a new upload, such as `?link=…`, which its client needs for access. Default: none. */
  readonly query?: string
  /**
   * Aborts when the client leaves before it has the answer. If the request has a body, `content` throws then, and bytes that have
   * arrived are kept. Default: never.
   */
  readonly signal?: AbortSignal
  /** Called with the name of the new file, once it is known; it may be one that is not allowed. Default: none. */
  readonly onName?: (name: string) => void
}

/** The answer to a request of tus. Its body is empty. */
export interface TusAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The upload of the request; `published` is set if this request, or an earlier one, published the file. */
  readonly upload?: ResumableUpload
  /** Whether this request published the file. */
  readonly hasPublished: boolean
}

/** @throws HttpProblem 415 when `Content-Type` is not that of a part of an upload */
export function requireContentType(request: TusRequest): void {
  if (!isOfType(request, 'application/offset+octet-stream')) throw tusProblems.unknownContentType()
}

/**
 * The number of bytes in a header; `undefined` without one.
 *
 * @throws HttpProblem 400 when it is not a whole number, or is larger than `Number.MAX_SAFE_INTEGER`
 */
export function wholeNumber(request: TusRequest, header: string): number | undefined {
  const text = headerOf(request, header)
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : NaN
  if (!Number.isSafeInteger(number)) {
    throw tusProblems.invalidHeader(header, 'it must be a whole number')
  }
  return number
}

/** The headers with an upload's offset and its expiry, or with the entity tag of its published file. */
export function progressHeaders({
  offset,
  expiresAt,
  published,
}: ResumableUpload): Record<string, string> {
  return {
    'Upload-Offset': String(offset),
    ...(published === undefined
      ? { 'Upload-Expires': expiresAt.toUTCString() }
      : { 'Upload-ETag': `"${published.etag}"` }),
  }
}

/** The headers with the length and the metadata that the client has announced. */
export function planHeaders({ plan }: ResumableUpload): Record<string, string> {
  return {
    ...(plan.length === undefined
      ? { 'Upload-Defer-Length': '1' }
      : { 'Upload-Length': String(plan.length) }),
    ...(plan.note !== undefined && { 'Upload-Metadata': plan.note }),
  }
}

/** The only version of the protocol that exists. */
export const tusVersion = '1.0.0'

/** The errors with the words of docs/api.md. */
export const tusProblems = {
  unknownVersion: () =>
    new HttpProblem('unknown-tus-version', 412, `Tus-Resumable must be ${tusVersion}`, {
      'Tus-Version': tusVersion,
    }),
  unknownContentType: () =>
    new HttpProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/offset+octet-stream',
    ),
  checksumMismatch: () => new HttpProblem('checksum-mismatch', 460, 'Checksum mismatch'),
  noFileName: () =>
    new HttpProblem('no-file-name', 400, 'No filename. Use Upload-Metadata: filename <base64>'),
  invalidField: (field: string, reason: string) =>
    new HttpProblem('invalid-field', 400, `Invalid ${field}: ${reason}`),
  invalidHeader: (header: string, reason: string) =>
    new HttpProblem('invalid-header', 400, `Invalid ${header}: ${reason}`),
  methodNotAllowed: (allow: string) =>
    new HttpProblem('method-not-allowed', 405, `Method not allowed. Use ${allow}`, {
      Allow: allow,
    }),
} as const

/** The options for storing the body of a request, as a whole file or as a piece. */
type BodyOptions = Pick<AppendUploadOptions, 'digest' | 'release'>

/** The upload and the offset to which the body of a request is added. */
interface AppendTarget {
  readonly id: string
  readonly offset: number
  /** The length of the upload, if this request declares it. */
  readonly length?: number | undefined
}

/**
 * Adds the body of the request to an upload. Bytes that have arrived are kept even if the client leaves; with a checksum, the whole
 * body is added or nothing.
 *
 * @throws HttpProblem 400 for a checksum that cannot be read, 460 for one that differs
 * @throws all that `ResumableFiles.append` throws
 */
export async function appendBody(
  files: ResumableFiles,
  request: TusRequest,
  { id, offset, length }: AppendTarget,
): Promise<FinishedUpload> {
  const size = announcedSize(request)
  return storeBody(request, (options) =>
    files.append(id, offset, request.content(), {
      ...options,
      ...(length !== undefined && { length }),
      ...(size !== undefined && { size }),
    }),
  )
}

/**
 * Stores the body of the request by `store`, with the checksum that the client announces.
 *
 * @throws HttpProblem 400 for a checksum that cannot be read, 460 for one that differs
 * @throws all that `store` throws
 */
export async function storeBody<Upload extends ResumableUpload>(
  request: TusRequest,
  store: (options: BodyOptions) => Promise<Upload>,
): Promise<Upload> {
  const checksum = parseChecksum(request)
  try {
    return await store({
      ...(checksum && { digest: checksum.digest }),
      ...(request.release && { release: request.release }),
    })
  } catch (error) {
    // A wrong digest of the whole file has the same code.
    if (checksum?.isMismatch() && isFileServiceError(error, 'digest-mismatch')) {
      throw tusProblems.checksumMismatch()
    }
    throw error
  }
}

/** In order of preference. The protocol demands SHA-1. */
export const checksumAlgorithms = ['sha256', 'sha1']

/** The checksum that a client announces for the body of one request. */
interface Checksum {
  readonly digest: ExpectedDigest
  /** Whether the body was compared with the checksum, and differed. */
  isMismatch(): boolean
}

/**
 * Reads `Upload-Checksum`: the name of an algorithm, and the checksum in Base64; `undefined` without one.
 *
 * @throws HttpProblem 400 when it has another form, names another algorithm, or is announced as a trailer
 */
export function parseChecksum(request: TusRequest): Checksum | undefined {
  // The extension checksum-trailer is not supported: its client would rely on a comparison that is not made.
  if (/\bupload-checksum\b/i.test(headerOf(request, 'trailer') ?? '')) {
    throw invalid('it must come before the body')
  }
  const header = headerOf(request, 'upload-checksum')
  if (header === undefined) return undefined
  const [algorithm = '', value = '', ...more] = header.split(' ')
  if (!checksumAlgorithms.includes(algorithm)) {
    throw invalid(`the algorithm must be one of ${checksumAlgorithms.join(', ')}`)
  }
  if (more.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) {
    throw invalid('the checksum must be in Base64')
  }
  return expect(algorithm, Buffer.from(value, 'base64').toString('hex'))
}

function expect(algorithm: string, expected: string): Checksum {
  const hash = createHash(algorithm)
  let isMismatch = false
  return {
    digest: {
      hash: {
        update: (bytes) => hash.update(bytes),
        digest(encoding) {
          const actual = hash.digest(encoding)
          isMismatch = actual !== expected
          return actual
        },
      },
      expected: () => expected,
    },
    isMismatch: () => isMismatch,
  }
}

function invalid(reason: string) {
  return tusProblems.invalidHeader('upload-checksum', reason)
}
