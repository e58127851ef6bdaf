import type { RouterMiddleware } from '@koa/router'
import {
  compareUtf8,
  type BlobInfo,
  type Customer,
  type CustomerFiles,
  type ListOptions,
} from '@holdfast/core'
import { mediaTypeOf } from '../downloads/serve.ts'
import { streamBody } from '../downloads/stream-body.ts'
import { filesOf } from '../guards/enter.ts'
import { etagOf } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { soleParameter, type HoldfastState } from '../server/exchange.ts'

/**
 * GET and HEAD /list: the names of the customer's files, or the details of each. By the specification it is an error if there is
 * no file at all; a page after the last name is an empty array. If `limit` cuts the list, a Link leads to the next page.
 */
export const list: RouterMiddleware<HoldfastState> = async (ctx) => {
  const query = new URLSearchParams(ctx.querystring)
  const { details, ...options } = parseListQuery(query)
  const files = filesOf(ctx.state)
  const linkNext = (last: string) => ctx.set('Link', nextPage(query, last))
  await sendList(ctx, (reader) => {
    const request = { files, options, reader, linkNext }
    return details ? listText(request, detailsFor(files.customer)) : listText(request, named)
  })
}

/** Answers with the JSON text that `begin` makes of what it reads; stops reading when the client leaves. */
export async function sendList(
  ctx: Parameters<RouterMiddleware<HoldfastState>>[0],
  begin: (reader: ListReader) => AsyncGenerator<string>,
): Promise<void> {
  const reader = createListReader()
  const text = begin(reader)
  ctx.type = 'application/json; charset=utf-8'
  ctx.set('Cache-Control', 'private, no-cache')
  if (ctx.method === 'HEAD') {
    await text.next()
    await reader.stop()
    ctx.status = 200
    return
  }
  await streamBody(ctx, text, reader.stop)
}

const named: EntryKind<string> = {
  list: (files, options) => files.list(options),
  nameOf: (name) => name,
  show: (name) => name,
}

function detailsFor({ expireAfterMs }: Customer): EntryKind<BlobInfo> {
  return {
    list: (files, options) => files.listDetails(options),
    nameOf: ({ name }) => name,
    // The same values as in the headers of /serve.
    show: (info) => ({
      name: info.name,
      size: info.size,
      modified: info.modifiedAt.toISOString(),
      type: mediaTypeOf(info.name),
      etag: etagOf(info),
      ...(expireAfterMs !== undefined && {
        expires: new Date(info.modifiedAt.getTime() + expireAfterMs).toISOString(),
      }),
    }),
  }
}

/** The options of a list in a query string. */
interface ListQuery extends ListOptions {
  /** Whether the list has the details of each file, not only its name. */
  readonly details: boolean
}

/**
 * Reads `limit`, `after`, `prefix` and `details` in a query string. The result includes an empty `after` or `prefix`, too: paging
 * begins with one. Unknown parameters are ignored.
 *
 * @throws HttpProblem 400 when a parameter is sent twice, `limit` is not a whole number from 1, or `details` is not 1
 */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const limit = parseLimit(query)
  const after = soleParameter(query, 'after')
  const prefix = soleParameter(query, 'prefix')
  const details = soleParameter(query, 'details')
  if (details !== undefined && details !== '1')
    throw problems.invalidQuery('details', 'it must be 1')
  return {
    details: details !== undefined,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { after }),
    ...(prefix !== undefined && { prefix }),
  }
}

/**
 * The value of a Link header (RFC 8288) to the page after the name `last`, or before the version `last`. The URL has the other parameters of `query`, but no
 * path, so it is right even if a proxy changes paths (RFC 3986 §5.2).
 */
export function nextPage(
  query: URLSearchParams,
  last: string,
  cursor: 'after' | 'before' = 'after',
): string {
  const parameters = new URLSearchParams(query)
  parameters.set(cursor, last)
  // A plus means a space only in forms.
  return `<?${parameters.toString().replaceAll('+', '%20')}>; rel="next"`
}

/** How files are listed: by their names, or with details. */
interface EntryKind<Entry> {
  readonly list: (files: CustomerFiles, options: ListOptions) => AsyncIterable<readonly Entry[]>
  readonly nameOf: (entry: Entry) => string
  /** The value that becomes the entry's JSON. */
  readonly show: (entry: Entry) => unknown
}

interface ListRequest {
  readonly files: CustomerFiles
  readonly options: ListOptions
  readonly reader: ListReader
  /** Called before the first text with the last name of the list, if the limit cuts the list. */
  readonly linkNext: (last: string) => void
}

/** The longest page that is held in memory, in entries. */
export const longestHeld = 1000

/** The text of a list, a JSON array. @throws HttpProblem `No files uploaded yet` */
async function* listText<Entry>(
  { files, options, reader, linkNext }: ListRequest,
  kind: EntryKind<Entry>,
): AsyncGenerator<string> {
  const { limit, ...unlimited } = options
  const whenEmpty = () => {
    if (options.after === undefined && options.prefix === undefined) throw problems.noFilesYet()
    return '[]'
  }
  if (limit === undefined) {
    yield* jsonArray(reader.read(kind.list(files, unlimited)), kind, whenEmpty)
    return
  }
  if (limit <= longestHeld) {
    const oneMore = reader.read(kind.list(files, { ...options, limit: limit + 1 }))
    const linkAfter = (entry: Entry) => linkNext(kind.nameOf(entry))
    yield await pageText(oneMore, limit, kind, linkAfter, whenEmpty)
    return
  }
  // The Link header comes before the entries, which may be too many to hold in memory, so they are listed twice.
  const last = await findLast(options, limit, (some) => reader.read(files.list(some)))
  if (last !== undefined) linkNext(last)
  const entries = reader.read(kind.list(files, unlimited))
  yield* jsonArray(last === undefined ? entries : upTo(last, entries, kind), kind, whenEmpty)
}

/** The text of one page, whose list is read to one entry more; calls `linkNext` with the last entry if there is more. */
export async function pageText<Entry>(
  oneMore: AsyncIterable<readonly Entry[]>,
  limit: number,
  kind: Pick<EntryKind<Entry>, 'show'>,
  linkNext: (last: Entry) => void,
  whenEmpty: WhenEmpty,
): Promise<string> {
  const entries: Entry[] = []
  for await (const page of oneMore) entries.push(...page)
  const last = entries[limit - 1]
  if (last !== undefined && entries.length > limit) linkNext(last)
  return entries.length > 0 ? textOf(entries.slice(0, limit), kind) : whenEmpty()
}

/** The text of an empty list, or the error for it. */
type WhenEmpty = () => string | Promise<string>

/** The last name before `limit` cuts the list; `undefined` if the list has no more than `limit` names. */
async function findLast(
  options: ListOptions,
  limit: number,
  read: (options: ListOptions) => AsyncIterable<readonly string[]>,
): Promise<string | undefined> {
  const oneMore = Math.min(limit + 1, Number.MAX_SAFE_INTEGER)
  let left = limit
  let last: string | undefined
  for await (const page of read({ ...options, limit: oneMore })) {
    last = page[Math.min(left, page.length) - 1] ?? last
    left -= page.length
    if (left < 0) return last
  }
  return undefined
}

/** The entries up to `last`, with those that were added since it was found. They may exceed the limit, but none is skipped. */
async function* upTo<Entry>(
  last: string,
  pages: AsyncIterable<readonly Entry[]>,
  { nameOf }: EntryKind<Entry>,
): AsyncGenerator<readonly Entry[]> {
  for await (const page of pages) {
    const wanted = page.filter((entry) => compareUtf8(nameOf(entry), last) <= 0)
    if (wanted.length > 0) yield wanted
    if (wanted.length < page.length) return
  }
}

/**
 * How many characters are written at a time, at least; to write each entry separately would cost more than the entry. Some blocks
 * wait in memory if the client does not read them.
 */
const blockSize = 32 * 1024

/** How many entries become text in one call; a call for each would cost several times as much. */
const entriesAtOnce = 64

/** The entries of `pages` as the text of one JSON array, in blocks; the text of `whenEmpty` if there are none. */
export async function* jsonArray<Entry>(
  pages: AsyncIterable<readonly Entry[]>,
  kind: Pick<EntryKind<Entry>, 'show'>,
  whenEmpty: WhenEmpty,
): AsyncIterable<string> {
  let isEmpty = true
  let block = ''
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += entriesAtOnce) {
      const entries = page.slice(at, at + entriesAtOnce)
      block += (isEmpty ? '[' : ',') + textOf(entries, kind).slice(1, -1)
      isEmpty = false
      if (block.length < blockSize) continue
      yield block
      block = ''
    }
  }
  yield isEmpty ? await whenEmpty() : `${block}]`
}

function textOf<Entry>(page: readonly Entry[], { show }: Pick<EntryKind<Entry>, 'show'>): string {
  return JSON.stringify(page.map(show))
}

/** Reads lists, one after the other, and can stop reading. */
export interface ListReader {
  /** Reads `pages`; returns an empty list after `stop`. */
  read<Entry>(pages: AsyncIterable<readonly Entry[]>): AsyncIterable<readonly Entry[]>
  /** Stops the list that is being read, even while a page is awaited, and all later lists. */
  readonly stop: () => Promise<void>
}

function createListReader(): ListReader {
  let isStopped = false
  let reading: AsyncIterator<unknown> | undefined
  return {
    read(pages) {
      if (isStopped) return nothing
      // This is the store's own iterator: a generator around it could close it only after the next page has come.
      const iterator = pages[Symbol.asyncIterator]()
      reading = iterator
      return { [Symbol.asyncIterator]: () => iterator }
    },
    async stop() {
      isStopped = true
      await reading?.return?.()
    },
  }
}

const nothing: AsyncIterable<never> = { async *[Symbol.asyncIterator]() {} }

/** The value of `limit`. @throws HttpProblem 400 when it is sent twice, or is not a whole number from 1 */
export function parseLimit(query: URLSearchParams): number | undefined {
  const text = soleParameter(query, 'limit')
  if (text === undefined) return undefined
  const limit = /^\d+$/.test(text) ? Number(text) : 0
  if (limit < 1 || !Number.isSafeInteger(limit)) {
    throw problems.invalidQuery('limit', 'it must be a whole number from 1')
  }
  return limit
}
