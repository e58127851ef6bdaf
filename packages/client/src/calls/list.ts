import type { FileDetails } from '../api/description.ts'
import { jsonOf, type Requests } from '../requests/requests.ts'
import { expectedAnswers } from '../requests/expected-answers.ts'
import { isDetails, isListOf, isText, type Shape } from '../requests/shapes.ts'
import { withRetries, type RetryPolicy } from '../requests/with-retries.ts'

export interface ListOptions {
  /** Only names that begin with this. */
  readonly prefix?: string | undefined
  /** Only names after this one, which need not exist. */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface PageOptions extends ListOptions {
  /** The number of files that each request asks for; all further requests use the last number. Default: 1000. */
  readonly pageSizes?: readonly number[] | undefined
}

/** For larger pages the server would list twice. */
const defaultSizes = [1000]

export async function* listNames(
  requests: Requests,
  retryPolicy: RetryPolicy,
  options: ListOptions,
): AsyncGenerator<string, void> {
  for await (const page of pages<string>(
    requests,
    retryPolicy,
    options,
    {},
    isText,
    (name) => name,
  )) {
    yield* page
  }
}

export async function* listDetails(
  requests: Requests,
  retryPolicy: RetryPolicy,
  options: ListOptions,
): AsyncGenerator<FileDetails, void> {
  for await (const page of listPages(requests, retryPolicy, options)) yield* page
}

export async function* listPages(
  requests: Requests,
  retryPolicy: RetryPolicy,
  options: PageOptions,
): AsyncGenerator<readonly FileDetails[], void> {
  const details = { details: '1' }
  yield* pages<FileDetails>(requests, retryPolicy, options, details, isDetails, ({ name }) => name)
}

/** Reads a page once the previous one has been taken. No page is empty. */
async function* pages<Entry>(
  requests: Requests,
  retryPolicy: RetryPolicy,
  { prefix, after = '', signal, pageSizes = defaultSizes }: PageOptions,
  parameters: Readonly<Record<string, string>>,
  isEntry: Shape,
  nameOf: (entry: Entry) => string,
): AsyncGenerator<readonly Entry[], void> {
  requireSizes(pageSizes)
  const sizes = [...pageSizes]
  for (let last = after; ;) {
    const [size = 0] = sizes.length > 1 ? sizes.splice(0, 1) : sizes
    // `after` is always sent: without it the server answers an empty list by an error.
    const query = { ...parameters, limit: String(size), after: last }
    const url = requests.urlOf('list')
    url.search = new URLSearchParams(prefix === undefined ? query : { ...query, prefix }).toString()
    const { page, hasNext } = await withRetries(retryPolicy, signal, async () => {
      const response = await requests.send({ url, expects: expectedAnswers.json, signal })
      const page = await jsonOf<readonly Entry[]>(response, isListOf(isEntry))
      return { page, hasNext: /rel="?next"?/.test(response.header('link') ?? '') }
    })
    const end = page.at(-1)
    if (end === undefined) return
    yield page
    // A proxy may have removed the link.
    if (!hasNext && page.length < size) return
    last = nameOf(end)
  }
}

function requireSizes(sizes: readonly number[]): void {
  if (sizes.length > 0 && sizes.every((size) => Number.isSafeInteger(size) && size > 0)) return
  throw new RangeError('pageSizes must be whole numbers, 1 or more')
}
