import type { FileDetails } from '../api/description.ts'
import { textOf, type Requests } from '../requests/requests.ts'
import { withRetries, type Patience } from '../requests/with-retries.ts'

export interface ListOptions {
  /** Only names that begin with this. */
  readonly prefix?: string | undefined
  /** Only names behind this one, which need not exist. */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Beyond it the server lists a page twice. */
const pageSize = 1000

export async function* listNames(
  requests: Requests,
  patience: Patience,
  options: ListOptions,
): AsyncGenerator<string, void> {
  yield* entries<string>(requests, patience, options, {}, (name) => name)
}

export async function* listDetails(
  requests: Requests,
  patience: Patience,
  options: ListOptions,
): AsyncGenerator<FileDetails, void> {
  const details = { details: '1' }
  yield* entries<FileDetails>(requests, patience, options, details, ({ name }) => name)
}

/** Reads a page when the one before has been taken. */
async function* entries<Entry>(
  requests: Requests,
  patience: Patience,
  { prefix, after = '', signal }: ListOptions,
  parameters: Readonly<Record<string, string>>,
  nameOf: (entry: Entry) => string,
): AsyncGenerator<Entry, void> {
  for (let last = after; ;) {
    // `after` is always there: without it an empty list is an error.
    const query = { ...parameters, limit: String(pageSize), after: last }
    const url = requests.urlOf('list')
    url.search = new URLSearchParams(prefix === undefined ? query : { ...query, prefix }).toString()
    const text = await withRetries(patience, signal, async () =>
      textOf(await requests.send({ url, signal })),
    )
    const page = JSON.parse(text) as readonly Entry[]
    yield* page
    const end = page.at(-1)
    if (end === undefined || page.length < pageSize) return
    last = nameOf(end)
  }
}
