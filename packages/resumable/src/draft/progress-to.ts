import type { ResumableUpload } from '@holdfast/core'
import { interopVersion, speaksVersion } from './draft-headers.ts'
import type { DraftRequest } from './draft-request.ts'

/** Milliseconds between two reports at least. */
const reportPauseMs = 1_000

/** Reports to the client how many of its bytes are durable, as long as they arrive. */
export function progressTo(request: DraftRequest): (upload: ResumableUpload) => void {
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
