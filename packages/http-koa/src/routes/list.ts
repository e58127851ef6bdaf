import type { RouterMiddleware } from '@koa/router'
import { compareUtf8, type ListOptions } from '@holdfast/core'
import { streamBody } from '../answer/stream-body.ts'
import { problems } from '../errors/problem.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { parseListQuery } from '../http/list-query.ts'
import { nextPage } from '../http/next-page.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { createListReader, type ListReader } from './list-reader.ts'

/**
 * GET and HEAD /list: the names of the customer's files. Having no file at all is an error, by the specification; a page
 * after the last name is an empty array. Where `limit` cuts the list, a Link leads to the next page.
 */
export const list: RouterMiddleware<HoldfastState> = async (ctx) => {
  const query = new URLSearchParams(ctx.querystring)
  const options = parseListQuery(query)
  const reader = createListReader(filesOf(ctx.state))
  const text = textOf(reader, options, (last) => ctx.set('Link', nextPage(query, last)))
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

/** The longest page, in names, that is held in memory. */
const longestHeld = 1000

/** The text of a list. Calls `linkNext` with its last name, before the first text, if the limit has cut it there. */
async function* textOf(
  reader: ListReader,
  options: ListOptions,
  linkNext: (last: string) => void,
): AsyncGenerator<string> {
  const { limit, ...unlimited } = options
  const whenEmpty = () => {
    if (options.after === undefined && options.prefix === undefined) throw problems.noFilesYet()
    return '[]'
  }
  if (limit === undefined) {
    yield* jsonArray(reader.read(unlimited), whenEmpty)
    return
  }
  if (limit <= longestHeld) {
    const names: string[] = []
    for await (const page of reader.read({ ...options, limit: limit + 1 })) names.push(...page)
    if (names.length > limit) linkNext(names[limit - 1] ?? '')
    yield names.length > 0 ? JSON.stringify(names.slice(0, limit)) : whenEmpty()
    return
  }
  // The header comes before the names, and they may be too many to be held: so they are listed twice.
  const last = await findLast(reader, options, limit)
  if (last !== undefined) linkNext(last)
  yield* jsonArray(upTo(last, reader.read(unlimited)), whenEmpty)
}

/** The name at which `limit` cuts the list; `undefined` if there are not more names. */
async function findLast(
  reader: ListReader,
  options: ListOptions,
  limit: number,
): Promise<string | undefined> {
  const oneMore = Math.min(limit + 1, Number.MAX_SAFE_INTEGER)
  let left = limit
  let last: string | undefined
  for await (const page of reader.read({ ...options, limit: oneMore })) {
    last = page[Math.min(left, page.length) - 1] ?? last
    left -= page.length
    if (left < 0) return last
  }
  return undefined
}

/** The names up to `last`. Those that came since it was found are among them, and may exceed a limit: none is skipped. */
async function* upTo(
  last: string | undefined,
  pages: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly string[]> {
  for await (const page of pages) {
    const wanted = last === undefined ? page : page.filter((name) => compareUtf8(name, last) <= 0)
    if (wanted.length > 0) yield wanted
    if (wanted.length < page.length) return
  }
}

/** Characters in each write; a write for each name would cost more than the name. */
const blockSize = 16 * 1024

/** The entries of `pages` as the text of one JSON array, in blocks; the text of `whenEmpty` if there are none. */
async function* jsonArray(
  pages: AsyncIterable<readonly string[]>,
  whenEmpty: () => string,
): AsyncIterable<string> {
  let isEmpty = true
  let block = ''
  for await (const page of pages) {
    // One call for a page costs a fraction of a call for each name.
    block += (isEmpty ? '[' : ',') + JSON.stringify(page).slice(1, -1)
    isEmpty = false
    if (block.length < blockSize) continue
    yield block
    block = ''
  }
  yield isEmpty ? whenEmpty() : `${block}]`
}
