import { HoldfastError, isHoldfastError } from '../shared/holdfast-error.ts'
import { requireIterable, requireName } from '../shared/require.ts'
import { filesIn, type ArchivedFile } from '../requests/archive.ts'
import { expectedAnswers } from '../requests/answers.ts'
import type { Requests } from '../requests/requests.ts'
import {
  createRetries,
  isTransient,
  type Retries,
  type RetryPolicy,
} from '../requests/with-retries.ts'
import { download, downloadOf, type Download } from './download.ts'
import { detailsOf } from './stat.ts'

export interface DownloadManyOptions {
  /** As in `DownloadOptions`; for files that are downloaded alone. Default: false. */
  readonly reuseMemory?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** One of many files to download. */
export interface FileToDownload {
  readonly name: string
  /**
   * Starts the download, as the client's `download` does, and rejects as that does, such as with `not-found`. To be called once at most.
   * The content must be read or cancelled, as that of any download. `signal` aborts this download alone.
   */
  readonly download: (options?: Pick<DownloadManyOptions, 'signal'>) => Promise<Download>
}

/** Names in a request: JSON of so many takes 1.5 MB at most, and the server takes 4 MiB. */
const mostNames = 1000

/** In bytes. Larger files are downloaded alone, so that they can continue after a break, and several at a time. */
const largest = 256 * 1024

/** Yields the files in the order of `names`; small ones share requests. */
export async function* downloadMany(
  requests: Requests,
  retryPolicy: RetryPolicy,
  names: Iterable<string> | AsyncIterable<string>,
  options: DownloadManyOptions,
): AsyncGenerator<FileToDownload, void> {
  requireIterable('The names', names)
  let group: string[] = []
  for await (const name of names) {
    options.signal?.throwIfAborted()
    requireName(name)
    group.push(name)
    if (group.length < mostNames) continue
    yield* downloadGroup(requests, retryPolicy, group, options)
    group = []
  }
  yield* downloadGroup(requests, retryPolicy, group, options)
}

/** How many requests in a row may bring no file, before all others are downloaded alone. */
const mostFruitless = 3

/**
 * Requests the files in one archive; after a break, those that have not arrived in another one. A file that the archive lacks is downloaded
 * alone: that says what is wrong, or waits until the server is there again.
 */
async function* downloadGroup(
  requests: Requests,
  retryPolicy: RetryPolicy,
  names: readonly string[],
  options: DownloadManyOptions,
): AsyncGenerator<FileToDownload, void> {
  const retries = createRetries(retryPolicy, options.signal)
  const alone = (name: string): FileToDownload => ({
    name,
    download: ({ signal } = {}) =>
      download(requests, retryPolicy, name, { ...options, signal: either(signal, options.signal) }),
  })
  let next = 0
  let fruitless = 0
  let isOver = false
  while (!isOver && names.length - next > 1) {
    const first = next
    try {
      for await (const file of requestArchive(requests, names.slice(next), options.signal)) {
        const at = names.indexOf(file.name, next)
        if (at < 0) {
          throw new HoldfastError('unknown', 'The answer has a file that was not in the request')
        }
        yield* names.slice(next, at).map(alone)
        next = at + 1
        yield { name: file.name, download: async () => downloadOfArchived(file) }
      }
      isOver = true
    } catch (error) {
      if (!isHoldfastError(error)) throw error
      const { status } = error
      if (retryPolicy.passwordHasChanged(error)) continue
      if (isHoldfastError(error, 'invalid-credentials', 'missing-credentials')) throw error
      const isOfOneFile = [500, 507].includes(status) || isTransient(error)
      fruitless = next > first ? 0 : fruitless + 1
      if (!isOfOneFile || fruitless > mostFruitless) isOver = true
      else if (next === first) yield* names.slice(next, ++next).map(alone)
      else {
        retries.hasProgressed()
        isOver = !(await mayRepeat(retries, error))
      }
    }
  }
  yield* names.slice(next).map(alone)
}

/** Waits until the next request makes sense; resolves with whether there may be one. */
async function mayRepeat(retries: Retries, error: HoldfastError): Promise<boolean> {
  try {
    await retries.wait(error)
    return true
  } catch (reason) {
    if (reason !== error) throw reason
    return false
  }
}

function either(one: AbortSignal | undefined, other: AbortSignal | undefined) {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other)
}

async function* requestArchive(
  requests: Requests,
  names: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<ArchivedFile, void> {
  const url = requests.urlOf('serve/batch')
  url.searchParams.set('largest', String(largest))
  const body = new TextEncoder().encode(JSON.stringify(names))
  const response = await requests.send({
    method: 'POST',
    url,
    expects: expectedAnswers.archive,
    headers: { 'Content-Type': 'application/json' },
    body,
    size: body.length,
    signal,
  })
  yield* filesIn(response.body, largest)
}

function downloadOfArchived({ name, header, content }: ArchivedFile): Download {
  const details = detailsOf({ header }, name, content.length)
  const extent = { start: 0, end: content.length }
  const download = downloadOf(details, extent, async function* () {
    if (content.length > 0) yield content
  })
  return Object.assign(download, { bytes: async () => Uint8Array.from(content) })
}
