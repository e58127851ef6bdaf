import type { FileDetails } from '../api/description.ts'
import { HoldfastError, isHoldfastError } from '../shared/holdfast-error.ts'
import { requireName } from '../shared/require.ts'
import { jsonOf, textOf, type Requests } from '../requests/requests.ts'
import { expectedAnswers, isCount, isDetails, isListOf } from '../requests/answers.ts'
import { withRetries, type RetryPolicy } from '../requests/with-retries.ts'
import type { TransportResponse } from '../shared/transport.ts'

export interface StatOptions {
  /**
   * Whether `modified` may be rounded to whole seconds: the server then need not read its list. Default: false; for a login that may read
   * and not list, it is rounded all the same.
   */
  readonly isRounded?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export async function stat(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  { signal, isRounded = false }: StatOptions,
): Promise<FileDetails> {
  requireName(name)
  const byHead = () => statByHead(requests, retryPolicy, name, signal)
  const found = isRounded ? await byHead() : undefined
  if (found) return found
  try {
    return await withRetries(retryPolicy, signal, () => statByList(requests, name, signal))
  } catch (error) {
    // A login may have the right to read, and not to list.
    const other = !isRounded && isHoldfastError(error, 'not-allowed') ? await byHead() : undefined
    if (other) return other
    throw error
  }
}

/** `undefined` if the answer does not suffice: it has no size, or is an error, which has no message after HEAD. */
async function statByHead(
  requests: Requests,
  retryPolicy: RetryPolicy,
  name: string,
  signal: AbortSignal | undefined,
): Promise<FileDetails | undefined> {
  const url = requests.urlOfFile('serve', name)
  try {
    return await withRetries(retryPolicy, signal, async () => {
      const response = await requests.send({
        method: 'HEAD',
        url,
        expects: expectedAnswers.file,
        signal,
      })
      await textOf(response)
      const size = Number(response.header('content-length') ?? NaN)
      return isCount(size) ? detailsOf(response, name, size) : undefined
    })
  } catch (error) {
    if (error instanceof HoldfastError && [400, 403].includes(error.status)) return undefined
    throw error
  }
}

async function statByList(
  requests: Requests,
  name: string,
  signal: AbortSignal | undefined,
): Promise<FileDetails> {
  const url = requests.urlOf('list')
  url.search = new URLSearchParams({ details: '1', limit: '1', prefix: name }).toString()
  const response = await requests.send({ url, expects: expectedAnswers.json, signal })
  const [first] = await jsonOf<readonly FileDetails[]>(response, isListOf(isDetails))
  if (first?.name === name) return first
  throw new HoldfastError('not-found', 'File not found', { status: 400 })
}

/** Reads the details of a file from the headers of its response. */
export function detailsOf(
  response: Pick<TransportResponse, 'header'>,
  name: string,
  size: number,
): FileDetails {
  return {
    name,
    size,
    modified: new Date(response.header('last-modified') ?? NaN).toJSON(),
    type: response.header('content-type') ?? 'application/octet-stream',
    etag: response.header('etag') ?? '',
  }
}
