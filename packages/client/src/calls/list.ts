import type { FileDetails } from '../api/description.ts'
import { jsonOf, type Requests } from '../requests/requests.ts'
import { expectedAnswers, isDetails, isListOf, isText, type Shape } from '../requests/answers.ts'
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
  const list = { ...filesOf(requests, options), isEntry: isText, keyOf: (name: string) => name }
  for await (const page of pagesOf<string>(requests, retryPolicy, options, list)) yield* page
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
  yield* pagesOf<FileDetails>(requests, retryPolicy, options, {
    ...filesOf(requests, options, { details: '1' }),
    isEntry: isDetails,
    keyOf: ({ name }) => name,
  })
}

function filesOf(
  requests: Requests,
  { prefix, after = '' }: ListOptions,
  parameters: Readonly<Record<string, string>> = {},
) {
  return {
    url: requests.urlOf('list'),
    first: after,
    cursor: 'after' as const,
    parameters: prefix === undefined ? parameters : { ...parameters, prefix },
  }
}

/** A list that the server sends in pages. */
interface PagedList<Entry> {
  readonly url: URL
  /** The parameter that says where a page begins, and its value for the first page. */
  readonly cursor: 'after' | 'before'
  readonly first: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly isEntry: Shape
  /** The value of `cursor` for the page after this entry. */
  readonly keyOf: (entry: Entry) => string
}

/** Reads a page once the previous one has been taken. No page is empty. */
export async function* pagesOf<Entry>(
  requests: Requests,
  retryPolicy: RetryPolicy,
  { signal, pageSizes = defaultSizes }: Pick<PageOptions, 'signal' | 'pageSizes'>,
  { url: address, cursor, first, parameters = {}, isEntry, keyOf }: PagedList<Entry>,
): AsyncGenerator<readonly Entry[], void> {
  requireSizes(pageSizes)
  const sizes = [...pageSizes]
  for (let last = first; ;) {
    const [size = 0] = sizes.length > 1 ? sizes.splice(0, 1) : sizes
    // The cursor is always sent: without it the server answers an empty list of files by an error.
    const query = { ...parameters, limit: String(size), [cursor]: last }
    const url = new URL(address)
    url.search = new URLSearchParams(query).toString()
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
    last = keyOf(end)
  }
}

function requireSizes(sizes: readonly number[]): void {
  if (sizes.length > 0 && sizes.every((size) => Number.isSafeInteger(size) && size > 0)) return
  throw new RangeError('pageSizes must be whole numbers, 1 or more')
}
