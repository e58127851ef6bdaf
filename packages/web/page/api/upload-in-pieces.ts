import { DetailedError, Upload } from 'tus-js-client'
import { apiErrorOf, unreachable } from './api-error.ts'
import type { Connection } from './connection.ts'
import type { UploadRequest } from './upload-whole.ts'

export interface PiecesRequest extends UploadRequest {
  /** Where an earlier attempt has begun it. */
  readonly begunAt: string | undefined
  /** Called with where it is, as soon as it has begun. */
  readonly onBegun: (address: string) => void
}

/**
 * Uploads a file by tus, from where the last attempt ended. An abort leaves on the server what has arrived.
 *
 * @throws ApiError, with 412 where the name is taken and may not be replaced
 */
export async function uploadInPieces(connection: Connection, upload: PiecesRequest): Promise<void> {
  let { begunAt } = upload
  const onBegun = (address: string) => {
    begunAt = address
    upload.onBegun(address)
  }
  await connection.attempt(async (headers) => {
    upload.signal.throwIfAborted()
    await send(connection.url('resumable'), headers, { ...upload, begunAt, onBegun })
  })
}

function send(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  request: PiecesRequest,
): Promise<void> {
  const { file, name, replaces, signal, begunAt, onBegun, onSent } = request
  return new Promise((resolve, reject) => {
    const upload = new Upload(file, {
      endpoint,
      ...(begunAt !== undefined && { uploadUrl: begunAt }),
      headers: { ...headers },
      metadata: { filename: name },
      storeFingerprintForResuming: false,
      // The queue tries again, and shows it.
      retryDelays: [],
      onBeforeRequest: (sent) => {
        if (!replaces && sent.getMethod() === 'POST') sent.setHeader('If-None-Match', '*')
      },
      onUploadUrlAvailable: () => {
        if (upload.url !== null) onBegun(upload.url)
      },
      onProgress: onSent,
      onSuccess: () => resolve(),
      onError: (error) => reject(toApiError(error)),
    })
    signal.addEventListener('abort', () => {
      void upload.abort()
      reject(signal.reason as Error)
    })
    upload.start()
  })
}

function toApiError(error: Error): Error {
  const response = error instanceof DetailedError ? error.originalResponse : null
  if (!response) return unreachable()
  const retryAfter = response.getHeader('Retry-After') ?? null
  return apiErrorOf(response.getStatus(), response.getBody(), retryAfter)
}

/** Has the server forget what has arrived. */
export async function discardPieces(connection: Connection, address: string): Promise<void> {
  await connection
    .request(address, { method: 'DELETE', headers: { 'Tus-Resumable': '1.0.0' } })
    .catch(() => {
      // It expires by itself.
    })
}
