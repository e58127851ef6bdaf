import { apiErrorOf, unreachable } from './api-error.ts'
import type { Connection } from './connection.ts'

export interface UploadRequest {
  readonly file: File
  readonly name: string
  /** Whether a file of that name may be replaced. */
  readonly replaces: boolean
  readonly signal: AbortSignal
  /** How many bytes of the file have been sent. */
  readonly onSent: (bytes: number) => void
}

/**
 * Uploads a file in one request.
 *
 * @throws ApiError, with 412 where the name is taken and may not be replaced
 */
export async function uploadWhole(connection: Connection, upload: UploadRequest): Promise<void> {
  await connection.attempt(async (headers) => {
    upload.signal.throwIfAborted()
    await put(connection.url(`upload/${encodeURIComponent(upload.name)}`), headers, upload)
  })
}

/** `fetch` does not say how much it has sent. */
function put(
  url: string,
  headers: Readonly<Record<string, string>>,
  upload: UploadRequest,
): Promise<void> {
  const { file, replaces, signal, onSent } = upload
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', url)
    for (const [header, value] of Object.entries(headers)) {
      request.setRequestHeader(header, value)
    }
    if (!replaces) request.setRequestHeader('If-None-Match', '*')
    request.upload.onprogress = ({ loaded }) => onSent(loaded)
    request.onerror = () => reject(unreachable())
    request.onload = () => {
      const { status, responseText } = request
      if (status >= 200 && status < 300) resolve()
      else reject(apiErrorOf(status, responseText, request.getResponseHeader('Retry-After')))
    }
    signal.addEventListener('abort', () => {
      request.abort()
      reject(signal.reason as Error)
    })
    request.send(file)
  })
}
