import { Uppy } from '@uppy/core'
import Tus from '@uppy/tus'
import type { UploadJob, UploadOutcome } from '../tus-client.ts'
import { detailsOf } from '../run-tus-js.ts'

/** Does a job by Uppy, in a page. */
export function runUppy(content: File, job: UploadJob): Promise<UploadOutcome> {
  return new Promise((resolve) => {
    let isInterrupted = false
    const uppy = new Uppy().use(Tus, {
      endpoint: job.endpoint,
      headers: { ...job.headers },
      limit: 1,
      retryDelays: [50, 100, 200, 400, 800, 1600, 3200, 6400],
      storeFingerprintForResuming: job.remembers ?? false,
      ...(job.pieceSize !== undefined && { chunkSize: job.pieceSize }),
    })
    const id = uppy.addFile({ name: job.name, type: content.type, data: content })
    const url = () => uppy.getFile(id).tus?.uploadUrl ?? ''

    uppy.on('upload-progress', (_, { bytesUploaded }) => {
      const { at, kind } = job.interruption ?? { at: Infinity, kind: 'stop' }
      if (isInterrupted || (bytesUploaded || 0) < at) return
      isInterrupted = true
      if (kind === 'pause') {
        uppy.pauseResume(id)
        uppy.pauseResume(id)
        return
      }
      const outcome = { ending: 'terminated', url: url() } as const
      uppy.removeFile(id)
      resolve(outcome)
    })
    uppy.on('upload-success', () => resolve({ ending: 'stored', url: url() }))
    uppy.on('upload-error', (_, error) =>
      resolve({ ending: 'failed', url: url(), ...detailsOf(causeOf(error)) }),
    )
    void uppy.upload()
  })
}

/** Uppy wraps some of the errors of tus-js-client. */
function causeOf(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error
}
