import { createHash } from 'node:crypto'
import {
  isFileServiceError,
  type AppendUploadOptions,
  type ExpectedDigest,
  type FinishedUpload,
  type ResumableFiles,
  type ResumableUpload,
} from '@holdfast/core'
import { announcedSize, headerOf } from './request.ts'
import { tusProblems, type TusRequest } from './tus-request.ts'

/** The options for storing the body of a request, as a whole file or as a piece. */
export type BodyOptions = Pick<AppendUploadOptions, 'digest' | 'release'>

/** The upload and the offset to which the body of a request is added. */
export interface AppendTarget {
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
