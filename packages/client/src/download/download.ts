import type { FileDetails } from '../api/description.ts'
import { HoldfastError } from '../errors/holdfast-error.ts'
import type { Requests } from '../requests/requests.ts'
import {
  createRetries,
  withRetries,
  type Patience,
  type Retries,
} from '../requests/with-retries.ts'
import { streamOf } from '../streams/stream-of.ts'
import type { TransportResponse } from '../transport/transport.ts'

export interface DownloadOptions {
  /** The first byte, from 0. Default: 0. */
  readonly start?: number
  /** The byte behind the last one, as in `Blob.slice`. Default: the end of the file. */
  readonly end?: number
  /** The entity tag that the file must have; otherwise `precondition-failed`. */
  readonly ifMatch?: string
  readonly signal?: AbortSignal
}

/** A file that is being downloaded. Its content must be read or cancelled. */
export interface Download extends FileDetails {
  /** The first byte of the content, from 0. */
  readonly start: number
  /** The byte behind its last one. */
  readonly end: number
  /**
   * The content: of one version of the file, all of it, or an error. Where the line breaks it goes on where it was, and fails with
   * `precondition-failed` if the file is another one by then.
   */
  readonly body: ReadableStream<Uint8Array>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  text(): Promise<string>
  blob(): Promise<Blob>
}

export async function download(
  requests: Requests,
  patience: Patience,
  name: string,
  options: DownloadOptions,
): Promise<Download> {
  const { signal } = options
  const cancelled = new AbortController()
  const until = signal ? AbortSignal.any([signal, cancelled.signal]) : cancelled.signal
  const url = requests.urlOfFile('serve', name)
  const ask = (start: number, end: number | undefined, ifMatch: string | undefined) =>
    requests.send({
      url,
      headers: {
        ...((start > 0 || end !== undefined) && { Range: rangeOf(start, end) }),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      signal: until,
    })

  const { start: from = 0, end: to, ifMatch } = options
  const first = await withRetries(patience, signal, () => ask(from, to, ifMatch))
  const { start, end, size } = extentOf(first, from)
  const etag = first.header('etag') ?? ''
  const content = goOnAfterBreaks(
    first,
    { start, end },
    createRetries(patience, until),
    (position) => ask(position, end, etag),
  )
  const body = streamOf(content, (reason) => cancelled.abort(reason))
  const collected = () => new Response(body)
  return {
    name,
    size,
    modified: new Date(first.header('last-modified') ?? NaN).toJSON(),
    type: first.header('content-type') ?? 'application/octet-stream',
    etag,
    start,
    end,
    body,
    bytes: async () => new Uint8Array(await collected().arrayBuffer()),
    text: () => collected().text(),
    blob: () => collected().blob(),
  }
}

interface Extent {
  readonly start: number
  readonly end: number
}

async function* goOnAfterBreaks(
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

/** What of the file a response has. */
function extentOf(response: TransportResponse, from: number): Extent & { readonly size: number } {
  const { status } = response
  const [, start, last, total] =
    /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.header('content-range') ?? '') ?? []
  const extent =
    status === 206
      ? { start: Number(start), end: Number(last) + 1, size: Number(total) }
      : { start: 0, ...sizes(Number(response.header('content-length') ?? NaN)) }
  if (extent.start === from && Number.isSafeInteger(extent.end)) return extent
  throw new HoldfastError('unknown', 'The answer is not the part of the file that was asked for', {
    status,
  })
}

const sizes = (size: number) => ({ end: size, size })

function rangeOf(start: number, end: number | undefined): string {
  if (end !== undefined && end <= start) throw new RangeError('end must be behind start')
  return `bytes=${start}-${end === undefined ? '' : end - 1}`
}
