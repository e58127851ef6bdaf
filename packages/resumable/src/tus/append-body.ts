import { isFileServiceError, type ResumableFiles, type ResumableUpload } from '@holdfast/core'
import { parseChecksum } from './checksum.ts'
import { announcedSize } from '../protocol/request-body.ts'
import { tusProblems } from './tus-problems.ts'
import type { TusRequest } from './tus-request.ts'

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
): Promise<ResumableUpload> {
  const checksum = parseChecksum(request)
  const size = announcedSize(request)
  try {
    return await files.append(id, offset, request.content(), {
      ...(length !== undefined && { length }),
      ...(size !== undefined && { size }),
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
