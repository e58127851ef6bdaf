import { HoldfastError, isHoldfastError } from '../shared/holdfast-error.ts'
import { requireIterable, requireName } from '../shared/require.ts'
import { filesIn, type ArchivedFile } from '../requests/archive.ts'
import { expectedAnswers } from '../requests/answers.ts'
import type { Requests } from '../requests/requests.ts'
import type { RetryPolicy } from '../requests/with-retries.ts'
import { download, downloadOf, type Download } from './download.ts'
import { detailsOf } from './stat.ts'

export interface DownloadManyOptions {
  /** See {@link Client.download}; of files that come alone. Default: false. */
  readonly reuseMemory?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** One of many files to download. */
export interface FileToDownload {
  readonly name: string
  /**
   * Starts the download, as the client's `download` does, and rejects as that does, such as with `not-found`. To be called once at most. A
   * small file has arrived already, and needs neither reading nor cancelling.
   */
  readonly download: () => Promise<Download>
}

/** Names in a request: what has arrived of its answer is not asked for again. */
const mostNames = 1000

/** In bytes. Larger files come alone, so that they can continue after a break, and beside each other. */
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

/**
 * Requests the files together, and what has not arrived again. What the answer leaves out comes alone, as does a file that the answer
 * breaks off before: its own request says what is wrong, or waits until the server is there again.
 */
async function* downloadGroup(
  requests: Requests,
  retryPolicy: RetryPolicy,
  names: readonly string[],
  options: DownloadManyOptions,
): AsyncGenerator<FileToDownload, void> {
  const alone = (name: string): FileToDownload => ({
    name,
    download: () => download(requests, retryPolicy, name, options),
  })
  let next = 0
  let isWhole = false
  while (!isWhole && names.length - next > 1) {
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
      isWhole = true
    } catch (error) {
      if (!isHoldfastError(error) || endsAll(error)) throw error
      isWhole = refusesArchives(error)
      if (!isWhole && next === first) yield* names.slice(next, ++next).map(alone)
    }
  }
  yield* names.slice(next).map(alone)
}

/** Whether each further request would only count as one more failed login. */
const endsAll = (error: HoldfastError) =>
  isHoldfastError(error, 'invalid-credentials', 'missing-credentials')

/** Whether one of the names is invalid, or the server is older than this request. */
const refusesArchives = ({ status }: HoldfastError) => [400, 405, 413].includes(status)

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
