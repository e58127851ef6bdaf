import { HoldfastError, isHoldfastError } from '../errors/holdfast-error.ts'
import { textOf, type Request, type Requests } from '../requests/requests.ts'
import { withRetries, type Patience } from '../requests/with-retries.ts'
import type { TransportResponse } from '../transport/transport.ts'
import type { Pieces } from './pieces.ts'
import type { UploadOptions } from './upload-options.ts'

/** Where an upload is. */
interface UploadState {
  readonly offset: number
  readonly length: number | undefined
}

/**
 * Uploads by tus 1.0, and goes on where the server is whenever the line breaks.
 *
 * @throws HoldfastError, `unknown-path` where the server takes no uploads in pieces
 */
export async function uploadInPieces(
  requests: Requests,
  patience: Patience,
  name: string,
  pieces: Pieces,
  options: UploadOptions,
): Promise<void> {
  const { signal, uploadUrl, onUploadUrl, onProgress } = options
  const send = (request: Request) =>
    requests.send({ ...request, headers: { 'Tus-Resumable': '1.0.0', ...request.headers }, signal })

  const earlier = uploadUrl === undefined ? undefined : await stateOfEarlier(uploadUrl)
  const url = earlier ? new URL(uploadUrl ?? '') : await withRetries(patience, signal, begin)
  onUploadUrl?.(url.href)
  try {
    await goOn(earlier ?? { offset: 0, length: pieces.size })
  } catch (error) {
    if (!onUploadUrl) await discard()
    throw error
  }

  async function stateOfEarlier(address: string): Promise<UploadState | undefined> {
    try {
      const state = await withRetries(patience, signal, () => stateAt(new URL(address)))
      return state.length === undefined || state.length === pieces.size ? state : undefined
    } catch (error) {
      if (isHoldfastError(error, 'upload-not-found')) return undefined
      throw error
    }
  }

  async function begin(): Promise<URL> {
    const { createOnly = false, sha256 } = options
    const endpoint = requests.urlOf('resumable')
    const response = await send({
      method: 'POST',
      url: endpoint,
      headers: {
        ...(pieces.size === undefined
          ? { 'Upload-Defer-Length': '1' }
          : { 'Upload-Length': String(pieces.size) }),
        'Upload-Metadata': metadataOf({ filename: name, ...(sha256 !== undefined && { sha256 }) }),
        ...(createOnly && { 'If-None-Match': '*' }),
      },
    })
    await textOf(response)
    return new URL(response.header('location') ?? '', endpoint)
  }

  async function goOn(from: UploadState): Promise<void> {
    let known = from.offset
    let state: UploadState | undefined = from
    await withRetries(patience, signal, async (retries) => {
      while (true) {
        // After a break only the server knows how much has arrived.
        const { offset, length } = state ?? (await stateAt(url))
        if (offset > known) retries.hasProgressed()
        known = offset
        onProgress?.({ sent: offset, size: pieces.size ?? length })
        if (offset === length) return
        state = undefined
        state = await append(offset)
      }
    })
  }

  async function append(offset: number): Promise<UploadState> {
    const { size, body, total } = await pieces.at(offset)
    const response = await send({
      method: 'PATCH',
      url,
      headers: {
        'Content-Type': 'application/offset+octet-stream',
        'Upload-Offset': String(offset),
        ...(pieces.size === undefined && total !== undefined && { 'Upload-Length': String(total) }),
      },
      body,
      size,
      onSent: (sent) => onProgress?.({ sent: offset + sent, size: total ?? pieces.size }),
    })
    await textOf(response)
    return { offset: offsetOf(response), length: total ?? pieces.size }
  }

  async function stateAt(address: URL): Promise<UploadState> {
    const response = await send({ method: 'HEAD', url: address }).catch((error: unknown) => {
      // An answer to HEAD has no words.
      if (!isHoldfastError(error) || error.status !== 404) throw error
      throw new HoldfastError('upload-not-found', 'Upload not found', { status: 404, cause: error })
    })
    await textOf(response)
    const length = response.header('upload-length')
    return { offset: offsetOf(response), length: length === undefined ? undefined : Number(length) }
  }

  async function discard(): Promise<void> {
    const request = { method: 'DELETE', url, headers: { 'Tus-Resumable': '1.0.0' } }
    await requests
      .send(request)
      .then(textOf)
      .catch(() => {
        // It expires by itself.
      })
  }
}

function offsetOf(response: TransportResponse): number {
  const offset = Number(response.header('upload-offset') ?? NaN)
  if (Number.isSafeInteger(offset)) return offset
  throw new HoldfastError('unknown', 'The answer does not say how far the upload is', {
    status: response.status,
  })
}

function metadataOf(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(
      ([key, value]) => `${key} ${btoa(String.fromCharCode(...new TextEncoder().encode(value)))}`,
    )
    .join(',')
}
