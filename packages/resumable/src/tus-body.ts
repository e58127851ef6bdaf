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

/** How the body of a request is stored, wherever it goes. */
export type BodyOptions = Pick<AppendUploadOptions, 'digest' | 'release'>

/** Where the body of a request goes. */
export interface BodyPlace {
  readonly id: string
  readonly offset: number
  /** The length of the upload, where this request declares it. */
  readonly length?: number | undefined
}

/**
 * Adds the body of the request to an upload. What came counts even if the client leaves; with a checksum, all of the body
 * counts or nothing.
 *
 * @throws HttpProblem 400 for a checksum that cannot be read, 460 for one that differs
 * @throws whatever `ResumableFiles.append` throws
 */
export async function appendBody(
  files: ResumableFiles,
  request: TusRequest,
  { id, offset, length }: BodyPlace,
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
 * Has `store` store the body of the request, with the checksum that its client announces.
 *
 * @throws HttpProblem 400 for a checksum that cannot be read, 460 for one that differs
 * @throws whatever `store` throws
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
    // The digest of the whole file has an error of the same code.
    if (checksum?.isMismatch() && isFileServiceError(error, 'digest-mismatch')) {
      throw tusProblems.checksumMismatch()
    }
    throw error
  }
}

/** In the order of preference. The protocol demands SHA-1. */
export const checksumAlgorithms = ['sha256', 'sha1']

/** The checksum that a client announces for the body of one request. */
interface Checksum {
  readonly digest: ExpectedDigest
  /** Whether the body was compared with it, and differed. */
  isMismatch(): boolean
}

/**
 * Reads `Upload-Checksum`: the name of an algorithm, and the checksum in Base64; `undefined` without one.
 *
 * @throws HttpProblem 400 when it is not of that form, of another algorithm, or announced as a trailer
 */
export function parseChecksum(request: TusRequest): Checksum | undefined {
  // The extension checksum-trailer: its client relies on a comparison that would not be made.
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
