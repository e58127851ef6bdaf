import { HoldfastError, isHoldfastError, mayBeTooLarge } from '../shared/holdfast-error.ts'
import { expectedAnswers, isCount } from '../requests/answers.ts'
import { textOf, type Request, type Requests } from '../requests/requests.ts'
import { withRetries, type RetryPolicy } from '../requests/with-retries.ts'
import { type TransportResponse, chunksOf } from '../shared/transport.ts'
import type { Pieces } from './pieces.ts'
import type { RereadableBody, UploadedFile, UploadOptions } from './upload-options.ts'
import { download } from './download.ts'
import { stat } from './stat.ts'

/** The state of an upload on the server. */
interface UploadState {
  readonly offset: number
  readonly length: number | undefined
  /** The entity tag of the file that the upload has become. */
  readonly etag: string | undefined
}

/** An upload as the server reports it. */
interface EarlierUpload extends UploadState {
  readonly metadata: string | undefined
  /** Of the bytes that have arrived, if it was requested. */
  readonly digest: string | undefined
}

/** A caller that gives up should not wait long for this request. */
const discardTimeoutMs = 5_000

/**
 * Uploads by tus 1.0, and resumes at the server's offset whenever the connection breaks. Resolves with `undefined`, before it sends any
 * content, if the server takes no uploads in pieces.
 */
export async function uploadInPieces(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  pieces: Pieces,
  options: UploadOptions,
): Promise<UploadedFile | undefined> {
  const { signal, uploadUrl, onUploadUrl, onProgress } = options
  const send = (request: Request) =>
    requests.send({ ...request, headers: { 'Tus-Resumable': '1.0.0', ...request.headers }, signal })

  const { sha256 } = options
  const metadata = metadataOf({ filename: name, ...(sha256 !== undefined && { sha256 }) })
  const { body } = pieces
  const earlier =
    uploadUrl === undefined || !body ? undefined : await stateOfEarlier(uploadUrl, body)
  const url = earlier ? new URL(uploadUrl ?? '') : await begin()
  if (!url) return undefined
  onUploadUrl?.(url.href)
  try {
    return await continueUpload(url, earlier ?? { offset: 0, length: pieces.size, etag: undefined })
  } catch (error) {
    const discarded = earlier || onUploadUrl ? undefined : discard(url)
    if (!signal?.aborted) await discarded
    throw error
  }

  async function stateOfEarlier(
    address: string,
    body: RereadableBody,
  ): Promise<UploadState | undefined> {
    try {
      const found = await withRetries(retryPolicy, signal, () => stateAt(new URL(address)))
      const { length = pieces.size } = found
      const isSameSize = length === pieces.size && found.offset <= (length ?? 0)
      if (!isSameSize || found.metadata !== metadata) return undefined
      const isWhole = found.offset === found.length
      const state = isWhole ? found : await stateOfBeginning(address, body, found)
      if (state === undefined) return undefined
      const { offset } = state
      if (offset !== state.length || !requests.mayRead) return state
      // The file that the upload became may have been deleted or replaced.
      const isThere = await hasSameContent(requests, retryPolicy, name, {
        body,
        size: offset,
        signal,
      })
      return isThere ? state : undefined
    } catch (error) {
      if (isHoldfastError(error, 'upload-not-found')) return undefined
      throw error
    }
  }

  /**
   * The state of the upload, if what the server has is the beginning of `body`. That may be more than was `found`: the server may still
   * store what an earlier process has sent.
   */
  async function stateOfBeginning(
    address: string,
    body: RereadableBody,
    found: UploadState,
  ): Promise<UploadState | undefined> {
    const hash = options.createSha256?.()
    if (!hash || found.offset === 0) return found
    const headers = { 'Want-Repr-Digest': 'sha-256=1' }
    const state = await withRetries(retryPolicy, signal, () => stateAt(new URL(address), headers))
    if (state.offset === state.length) return state
    if (state.digest === undefined) return undefined
    for await (const chunk of beginningOf(body, state.offset)) {
      signal?.throwIfAborted()
      hash.update(chunk)
    }
    const digest = `sha-256=:${btoa(String.fromCharCode(...hash.digest()))}:`
    return state.digest === digest ? state : undefined
  }

  async function begin(): Promise<URL | undefined> {
    try {
      return await withRetries(retryPolicy, signal, create)
    } catch (error) {
      if (isHoldfastError(error, 'unknown-path')) return undefined
      throw error
    }
  }

  async function create(): Promise<URL> {
    const endpoint = requests.urlOf('resumable')
    const response = await send({
      method: 'POST',
      url: endpoint,
      expects: expectedAnswers.uploadBegun,
      headers: {
        ...(pieces.size === undefined
          ? { 'Upload-Defer-Length': '1' }
          : { 'Upload-Length': String(pieces.size) }),
        'Upload-Metadata': metadata,
        ...(options.createOnly && { 'If-None-Match': '*' }),
      },
    })
    await textOf(response)
    const url = new URL(response.header('location') ?? '', endpoint)
    if (url.origin === endpoint.origin) return url
    throw new HoldfastError(
      'unknown',
      `The answer names an address on another server: ${url.origin}`,
      {
        status: response.status,
      },
    )
  }

  async function continueUpload(url: URL, from: UploadState): Promise<UploadedFile> {
    let known = from.offset
    let state: UploadState | undefined = from
    return withRetries(retryPolicy, signal, async (retries) => {
      while (true) {
        // After a broken connection only the server knows how much has arrived.
        const { offset, length, etag } = state ?? (await stateAt(url))
        if (offset > known) retries.hasProgressed()
        known = offset
        onProgress?.({ sent: offset, size: pieces.size ?? length })
        if (offset === length) return { etag }
        state = undefined
        state = await append(url, offset, length)
      }
    })
  }

  async function append(
    url: URL,
    offset: number,
    length: number | undefined,
  ): Promise<UploadState> {
    const { size, body, total, isEnlarged = false } = await pieces.at(offset)
    const request = {
      method: 'PATCH',
      url,
      expects: expectedAnswers.uploadContinued,
      headers: {
        'Content-Type': 'application/offset+octet-stream',
        'Upload-Offset': String(offset),
        ...(length === undefined && total !== undefined && { 'Upload-Length': String(total) }),
      },
      body,
      size,
      onSent: (sent: number) => onProgress?.({ sent: offset + sent, size: total ?? pieces.size }),
    }
    const response = await send(request).catch((error: unknown) => {
      if (!(isEnlarged && mayBeTooLarge(error))) throw error
    })
    // This does not count as a retry: smaller pieces may get through.
    if (response === undefined) return stateAt(url)
    await textOf(response)
    return {
      offset: offsetOf(response),
      length: length ?? total,
      etag: response.header('upload-etag'),
    }
  }

  async function stateAt(
    address: URL,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<EarlierUpload> {
    const request = { method: 'HEAD', url: address, headers, expects: expectedAnswers.uploadState }
    const response = await send(request).catch(explain)
    await textOf(response)
    const length = response.header('upload-length')
    return {
      offset: offsetOf(response),
      length: length === undefined ? undefined : Number(length),
      etag: response.header('upload-etag'),
      metadata: response.header('upload-metadata'),
      digest: response.header('repr-digest'),
    }
  }

  /** Replaces an error of HEAD, whose answers have no message, by one that says more. */
  async function explain(error: unknown): Promise<never> {
    if (!isHoldfastError(error, 'unknown')) throw error
    const { status } = error
    if (status === 404) throw new HoldfastError('upload-not-found', 'Upload not found', { status })
    if (status === 412) throw new HoldfastError('already-exists', 'Precondition Failed', { status })
    if (status === 403) throw forbidden(status)
    if (!requests.mayRead) throw error
    // Probably the credentials are wrong; another request gets the message.
    if (status === 400 && !retryPolicy.passwordHasChanged(error))
      await textOf(await send({ url: requests.urlOf('usage'), expects: expectedAnswers.json }))
    throw error
  }

  function forbidden(status: number): HoldfastError {
    return requests.mayRead
      ? new HoldfastError('not-allowed', 'Not allowed', { status })
      : new HoldfastError('link-refused', 'The link is wrong, or has expired', { status })
  }

  async function discard(url: URL): Promise<void> {
    await discardUpload(requests, url, AbortSignal.timeout(discardTimeoutMs)).catch(() => {
      // It expires by itself.
    })
  }
}

function offsetOf(response: TransportResponse): number {
  const offset = Number(response.header('upload-offset') ?? NaN)
  if (isCount(offset)) return offset
  throw new HoldfastError('unknown', 'The answer does not contain the offset of the upload', {
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

/** Discards an upload in pieces. If the server does not know it, it is gone already. */
export async function discardUpload(
  requests: Requests,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<void> {
  const headers = { 'Tus-Resumable': '1.0.0' }
  const expects = expectedAnswers.uploadEnded
  try {
    await textOf(await requests.send({ method: 'DELETE', url, headers, expects, signal }))
  } catch (error) {
    if (!isHoldfastError(error, 'upload-not-found')) throw error
  }
}

/**
 * Whether the file `name` has exactly this content, of `size` bytes. Downloads the file only if its size is the same. A login that may
 * not read relies on the server, as a link does.
 */
async function hasSameContent(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  { body, size, signal }: ExpectedContent,
): Promise<boolean> {
  try {
    const found = await stat(requests, retryPolicy, name, { signal, isRounded: true })
    if (found.size !== size) return false
    const served = await download(requests, retryPolicy, name, { signal })
    return await areSame(chunksOf(served.body), beginningOf(body, size))
  } catch (error) {
    if (isHoldfastError(error, 'not-found', 'precondition-failed')) return false
    if (isHoldfastError(error, 'not-allowed')) return true
    throw error
  }
}

interface ExpectedContent {
  readonly body: RereadableBody
  readonly size: number
  readonly signal: AbortSignal | undefined
}

async function areSame(
  chunks: AsyncIterable<Uint8Array>,
  others: AsyncGenerator<Uint8Array, void>,
): Promise<boolean> {
  let other = new Uint8Array()
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length;) {
        if (other.length === 0) {
          const next = await others.next()
          if (next.done) return false
          other = next.value as Uint8Array<ArrayBuffer>
        }
        const length = Math.min(other.length, chunk.length - at)
        for (let index = 0; index < length; index++) {
          if (chunk[at + index] !== other[index]) return false
        }
        at += length
        other = other.subarray(length)
      }
    }
    return other.length === 0 && (await others.next()).done === true
  } finally {
    await others.return()
  }
}

/** The first `size` bytes of `body`. */
async function* beginningOf(body: RereadableBody, size: number): AsyncGenerator<Uint8Array, void> {
  const beginning = body.slice(0, size)
  if (beginning instanceof Uint8Array) yield beginning
  else if (beginning instanceof Blob) yield* chunksOf(beginning.stream())
  else yield* beginning
}
