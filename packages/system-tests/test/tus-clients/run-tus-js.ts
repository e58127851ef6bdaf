import { DetailedError, Upload } from 'tus-js-client'
import type { UploadJob, UploadOutcome } from './tus-client.ts'

/** Does a job by tus-js-client, in Node and in a page. */
export function runTusJs(
  content: ConstructorParameters<typeof Upload>[0],
  job: UploadJob,
): Promise<UploadOutcome> {
  return new Promise((resolve) => {
    let isInterrupted = false
    const end = (ending: UploadOutcome['ending']) => resolve({ ending, url: upload.url ?? '' })
    const upload: Upload = new Upload(content, {
      endpoint: job.endpoint,
      headers: { ...job.headers },
      metadata: { filename: job.name },
      uploadUrl: job.url ?? null,
      retryDelays: [50, 100, 200, 400, 800, 1600, 3200, 6400],
      ...(job.pieceSize !== undefined && { chunkSize: job.pieceSize }),
      storeFingerprintForResuming: job.remembers ?? false,
      onChunkComplete: (_, bytesAccepted) => {
        const { at, kind } = job.interruption ?? { at: Infinity, kind: 'stop' }
        if (isInterrupted || bytesAccepted < at) return
        isInterrupted = true
        void interrupt(kind)
      },
      onSuccess: () => end('stored'),
      onError: (error) => resolve({ ending: 'failed', url: upload.url ?? '', ...detailsOf(error) }),
    })

    async function interrupt(kind: 'pause' | 'stop' | 'terminate'): Promise<void> {
      await upload.abort(kind === 'terminate')
      if (kind === 'pause') upload.start()
      else end(kind === 'stop' ? 'stopped' : 'terminated')
    }

    void begin(upload, job)
  })
}

async function begin(upload: Upload, { remembers }: UploadJob): Promise<void> {
  const [earlier] = remembers ? await upload.findPreviousUploads() : []
  if (earlier) upload.resumeFromPreviousUpload(earlier)
  upload.start()
}

/** What tus-js-client shows of the response that made an upload fail. */
export function detailsOf(error: Error): Pick<UploadOutcome, 'status' | 'message'> {
  const response = error instanceof DetailedError ? error.originalResponse : undefined
  if (!response) return { message: error.message }
  return { status: response.getStatus(), message: response.getBody() }
}
