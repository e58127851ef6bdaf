import {
  isFileServiceError,
  type AppendUploadOptions,
  type ResumableFiles,
  type ResumableUpload,
} from '@holdfast/core'
import { announcedSize } from '../protocol/request-body.ts'
import { interopVersion, lengthOf, speaksVersion, uploadComplete } from './draft-headers.ts'
import { draftProblems } from './draft-problem.ts'
import type { DraftRequest } from './draft-request.ts'

/** Milliseconds between two reports at least. */
const reportPauseMs = 1_000

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

/** Reports to the client how many of its bytes are durable, as long as they arrive. */
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
