import {
  isFileServiceError,
  type AppendUploadOptions,
  type FinishedUpload,
  type ResumableFiles,
  type ResumableUpload,
} from '@holdfast/core'
import { parseChecksum } from './checksum.ts'
import { announcedSize } from '../protocol/request-body.ts'
import { tusProblems } from './tus-problems.ts'
import type { TusRequest } from './tus-request.ts'

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
