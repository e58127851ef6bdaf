import type { Requests } from '../requests/requests.ts'
import { type RetryPolicy, isTransient, withRetries } from '../requests/with-retries.ts'
import { expectedAnswers } from '../requests/answers.ts'
import type { RequestBody } from '../shared/transport.ts'
import { hasStoredNothing } from '../shared/holdfast-error.ts'
import {
  bytesBody,
  contentOf,
  type RereadableBody,
  type UploadBody,
  type UploadedFile,
  type UploadOptions,
} from './upload-options.ts'
import { inParts, piecesOfBody, piecesOfStream, streamPieceSize, unlessAborted } from './pieces.ts'
import { uploadInPieces } from './upload-in-pieces.ts'

/** The size from which an upload in pieces is worth more requests: to resume it, or, where only answers report progress, to show that. */
const resumableFrom = ({ isSilent }: Requests) => (isSilent ? 4 : 16) * 1024 ** 2

export async function upload(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  body: UploadBody,
  options: UploadOptions,
): Promise<UploadedFile> {
  if (options.sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(options.sha256)) {
    throw new TypeError('sha256 must be 64 hexadecimal digits')
  }
  const { pieceSize = Infinity } = options
  if (pieceSize < 1 || !(Number.isInteger(pieceSize) || pieceSize === Infinity)) {
    throw new RangeError('pieceSize must be a whole number, 1 or more')
  }
  // A name that no URL can have would become another one in a header.
  requests.urlOfFile('upload', name)
  const over = new AbortController()
  const content = contentOf(body, over.signal)
  try {
    if ('size' in content) return await uploadBody(requests, retryPolicy, name, content, options)
    return await uploadStream(requests, retryPolicy, name, content, options)
  } finally {
    over.abort()
  }
}

async function uploadBody(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  body: RereadableBody,
  options: UploadOptions,
): Promise<UploadedFile> {
  const whole = { size: body.size, open: () => body.slice(0, body.size), isRereadable: true }
  const sendWhole = () => uploadWhole(requests, retryPolicy, name, whole, options)
  if (body.size < resumableFrom(requests) && options.uploadUrl === undefined) return sendWhole()
  const pieces = piecesOfBody(body, { ...options, isSilent: requests.isSilent })
  return (await uploadInPieces(requests, retryPolicy, name, pieces, options)) ?? sendWhole()
}

async function uploadStream(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  stream: AsyncIterable<Uint8Array>,
  options: UploadOptions,
): Promise<UploadedFile> {
  const { uploadUrl: _, ...withoutEarlier } = options
  const { signal } = options
  const parts = inParts(stream, streamPieceSize)
  try {
    const beginning = await unlessAborted(parts.next(), signal)
    const first = beginning.done ? new Uint8Array(0) : beginning.value
    if (first.length < streamPieceSize) {
      return await uploadBody(requests, retryPolicy, name, bytesBody(first), withoutEarlier)
    }
    const all = async function* () {
      yield first
      yield* parts
    }
    const whole = { size: undefined, open: all, isRereadable: false }
    const pieces = piecesOfStream(first, parts, signal)
    const uploaded = await uploadInPieces(requests, retryPolicy, name, pieces, withoutEarlier)
    return uploaded ?? (await uploadWhole(requests, retryPolicy, name, whole, options))
  } finally {
    // Do not wait for a stream that stands still.
    void parts.return().catch(() => {})
  }
}

/** Content that goes in one request. */
interface WholeBody {
  /** `undefined`: unknown before its end. */
  readonly size: number | undefined
  /** The content from its beginning. */
  open(): RequestBody
  /** Whether it can be opened again. */
  readonly isRereadable: boolean
}

/** Uploads in one request, and repeats it if that is safe. */
async function uploadWhole(
  requests: Requests,
  retryPolicy: RetryPolicy,
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
      expects: expectedAnswers.stored,
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
  return withRetries(retryPolicy, signal, send, createOnly ? hasStoredNothing : isTransient)
}

function base64OfHex(digest: string): string {
  const bytes = digest.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? []
  return btoa(String.fromCharCode(...bytes))
}
