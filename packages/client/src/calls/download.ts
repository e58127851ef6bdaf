import type { FileDetails } from '../api/description.ts'
import { HoldfastError } from '../shared/holdfast-error.ts'
import { expectedAnswers } from '../requests/answers.ts'
import type { Requests } from '../requests/requests.ts'
import {
  createRetries,
  withRetries,
  type RetryPolicy,
  type Retries,
} from '../requests/with-retries.ts'
import { detailsOf } from './stat.ts'
import { chunksOf, type TransportResponse } from '../shared/transport.ts'

export interface DownloadOptions {
  /** The first byte, from 0. Default: 0. */
  readonly start?: number | undefined
  /** The position after the last byte, as in `Blob.slice`. Default: the end of the file. */
  readonly end?: number | undefined
  /** An earlier version of the file, as `versions` or `deleted` lists it. Default: the present file. */
  readonly version?: string | undefined
  /** The entity tag that the file must have; otherwise `precondition-failed`. */
  readonly ifMatch?: string | undefined
  /**
   * Whether to reuse the memory of `body`: a chunk is then valid only until the next one is read, and large files take less memory.
   * Default: false.
   */
  readonly reuseMemory?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** A file that is being downloaded. Its content must be read or cancelled. */
export interface Download extends FileDetails {
  /** The first byte of the content, from 0. */
  readonly start: number
  /** The position after its last byte. */
  readonly end: number
  /**
   * The content: all of one version of the file, or an error. After a broken connection it continues where it was; it fails with
   * `precondition-failed` if the file has been replaced.
   */
  readonly body: ReadableStream<Uint8Array>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  text(): Promise<string>
  blob(): Promise<Blob>
}

export async function download(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  options: DownloadOptions,
): Promise<Download> {
  const { reuseMemory = false, version, signal } = options
  const cancelled = new AbortController()
  const until = signal ? AbortSignal.any([signal, cancelled.signal]) : cancelled.signal
  const url = requests.urlOfFile('serve', name)
  if (version !== undefined) url.searchParams.set('version', version)
  const ask = (range: string | undefined, ifMatch: string | undefined, signal = until) =>
    requests.send({
      url,
      expects: expectedAnswers.file,
      reuseMemory,
      headers: {
        ...(range !== undefined && { Range: range }),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      signal,
    })
  const askForAll = async (ifMatch: string | undefined) => {
    const unsized = new AbortController()
    const response = await ask(undefined, ifMatch, AbortSignal.any([until, unsized.signal]))
    if (hasSize(response)) return response
    // A proxy compresses the response. It does not compress a range, even one of the whole file.
    unsized.abort()
    return ask(rangeOf(0, undefined), ifMatch)
  }

  const { start: from = 0, end: to, ifMatch } = options
  const first = await withRetries(retryPolicy, signal, async () => {
    const isAll = from === 0 && to === undefined
    const response = isAll ? await askForAll(ifMatch) : await ask(rangeOf(from, to), ifMatch)
    return { response, ...requireExtent(response, from) }
  })
  const { start, end, size, response } = first
  const etag = response.header('etag') ?? ''
  const askFrom = async (position: number) => {
    const rest = await ask(rangeOf(position, end), etag)
    const extent = requireExtent(rest, position)
    if (extent.end === end && extent.size === size && rest.header('etag') === etag) return rest
    throw cancelAs(rest)
  }
  const content = () =>
    resumeAfterBreaks(response, { start, end }, createRetries(retryPolicy, until), askFrom)
  return downloadOf(detailsOf(response, name, size), { start, end }, content, (reason) =>
    cancelled.abort(reason),
  )

  function requireExtent(answer: TransportResponse, position: number) {
    const extent = extentOf(answer)
    if (extent.start === position && Number.isSafeInteger(extent.end)) return extent
    throw cancelAs(answer)
  }

  /** Cancels a response that is not the requested one. */
  function cancelAs({ status }: TransportResponse): HoldfastError {
    const message = 'The answer is not the requested part of the file'
    const error = new HoldfastError('unknown', message, { status })
    cancelled.abort(error)
    return error
  }
}

/** The download of a file with these details; `content` is called at most once. */
export function downloadOf(
  details: FileDetails,
  { start, end }: Extent,
  content: () => AsyncIterator<Uint8Array>,
  cancel: (reason: unknown) => void = () => {},
): Download {
  let stream: ReadableStream<Uint8Array> | undefined
  const body = () => (stream ??= streamOf(content(), cancel))
  const blob = async () => {
    const parts: Blob[] = []
    for await (const chunk of chunksOf(body())) {
      const bytes = chunk as Uint8Array<ArrayBuffer>
      // Copies the bytes, since a chunk may be valid only until the next one is read.
      parts.push(new Blob([bytes]))
    }
    return new Blob(parts)
  }
  return {
    ...details,
    start,
    end,
    // A stream takes longer to make than a small file to read.
    get body() {
      return body()
    },
    bytes: async () => new Uint8Array(await (await blob()).arrayBuffer()),
    text: async () => (await blob()).text(),
    blob,
  }
}

interface Extent {
  readonly start: number
  readonly end: number
}

async function* resumeAfterBreaks(
  first: TransportResponse,
  { start, end }: Extent,
  retries: Retries,
  askFrom: (position: number) => Promise<TransportResponse>,
): AsyncGenerator<Uint8Array, void> {
  let position = start
  let response: TransportResponse | undefined = first
  while (true) {
    try {
      response ??= await askFrom(position)
      for await (const chunk of response.body) {
        position += chunk.length
        if (position > end) throw new HoldfastError('unknown', 'The answer is longer than the file')
        retries.hasProgressed()
        yield chunk
      }
      if (position === end) return
      throw new HoldfastError('no-answer', 'The connection broke')
    } catch (error) {
      if (position === end) return
      response = undefined
      await retries.wait(error)
    }
  }
}

/** The range of the file that a response has. */
function extentOf(response: TransportResponse): Extent & { readonly size: number } {
  if (response.status !== 206) {
    return { start: 0, ...sizes(Number(response.header('content-length') ?? NaN)) }
  }
  const [, start, last, total] =
    /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.header('content-range') ?? '') ?? []
  return { start: Number(start), end: Number(last) + 1, size: Number(total) }
}

/** Whether the response says the size of the content, and that is not encoded. */
function hasSize(response: TransportResponse): boolean {
  const encoding = response.header('content-encoding') ?? 'identity'
  return encoding === 'identity' && response.header('content-length') !== undefined
}

const sizes = (size: number) => ({ end: size, size })

function rangeOf(start: number, end: number | undefined): string {
  if (end !== undefined && end <= start) throw new RangeError('end must be greater than start')
  return `bytes=${start}-${end === undefined ? '' : end - 1}`
}

/** A stream of `chunks`, one chunk per read. Cancelling it calls `cancel` and ends the iteration. */
function streamOf(
  chunks: AsyncIterator<Uint8Array>,
  cancel: (reason: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel(reason) {
        cancel(reason)
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
