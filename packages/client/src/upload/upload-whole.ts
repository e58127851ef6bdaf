import { ownAnswers } from '../requests/own-answers.ts'
import type { Requests } from '../requests/requests.ts'
import { isTransient, withRetries, type Patience } from '../requests/with-retries.ts'
import type { RequestBody } from '../transport/transport.ts'
import { hasStoredNothing } from './has-stored-nothing.ts'
import type { UploadedFile, UploadOptions } from './upload-options.ts'

/** Content that goes in one request. */
export interface WholeBody {
  /** `undefined`: not known before its end. */
  readonly size: number | undefined
  /** The content from its beginning. */
  open(): RequestBody
  /** Whether it can be opened again. */
  readonly isRereadable: boolean
}

/** Uploads in one request, and once more where that is safe. */
export async function uploadWhole(
  requests: Requests,
  patience: Patience,
  name: string,
  content: WholeBody,
  options: UploadOptions,
): Promise<UploadedFile> {
  const { createOnly = false, sha256, signal, onProgress } = options
  const { size } = content
  const send = async () => {
    const response = await requests.send({
      method: 'PUT',
      url: requests.urlOfFile('upload', name),
      expects: ownAnswers.stored,
      headers: {
        ...(createOnly && { 'If-None-Match': '*' }),
        ...(sha256 !== undefined && { 'Content-Digest': `sha-256=:${base64OfHex(sha256)}:` }),
      },
      body: content.open(),
      ...(size !== undefined && { size }),
      signal,
      onSent: (sent) => onProgress?.({ sent, size }),
    })
    onProgress?.({ sent: size ?? 0, size })
    return { etag: response.header('etag') }
  }
  if (!content.isRereadable) return send()
  return withRetries(patience, signal, send, createOnly ? hasStoredNothing : isTransient)
}

function base64OfHex(digest: string): string {
  const bytes = digest.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? []
  return btoa(String.fromCharCode(...bytes))
}
