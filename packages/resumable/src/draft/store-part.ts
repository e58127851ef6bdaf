import {
  isFileServiceError,
  type AppendUploadOptions,
  type ResumableFiles,
  type ResumableUpload,
} from '@holdfast/core'
import { announcedSize } from '../protocol/request-body.ts'
import { lengthOf, uploadComplete } from './draft-headers.ts'
import { draftProblems } from './draft-problem.ts'
import type { DraftRequest } from './draft-request.ts'
import { progressTo } from './progress-to.ts'

/** Adds the content of `request` to `upload`, and publishes the file if that was the rest of it. */
export async function storePart(
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
      // "Upload Append": what exceeds its length is invalid from then on.
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
