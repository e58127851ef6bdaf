import type { RouterMiddleware } from '@koa/router'
import { streamBody } from '../answer/stream-body.ts'
import { problems } from '../errors/problem.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { parseListQuery } from '../http/list-query.ts'
import { filesOf } from '../middleware/authenticate.ts'

/**
 * GET and HEAD /list: the names of the customer's files. Having no file at all is an error, by the specification; a page
 * after the last name is an empty array.
 */
export const list: RouterMiddleware<HoldfastState> = async (ctx) => {
  const options = parseListQuery(new URLSearchParams(ctx.querystring))
  // The iterator of the store itself: a generator around it would not close it before the next name has come.
  const pages = filesOf(ctx.state).list(options)[Symbol.asyncIterator]()
  const isPage = options.after !== undefined || options.prefix !== undefined
  const whenEmpty = () => {
    if (!isPage) throw problems.noFilesYet()
    return '[]'
  }
  ctx.type = 'application/json; charset=utf-8'
  ctx.set('Cache-Control', 'private, no-cache')
  if (ctx.method === 'HEAD') {
    const first = await pages.next()
    await pages.return?.()
    if (first.done) whenEmpty()
    ctx.status = 200
    return
  }
  const text = jsonArray({ [Symbol.asyncIterator]: () => pages }, whenEmpty)
  await streamBody(ctx, text, () => pages.return?.())
}

/** Characters in each write; a write for each name would cost more than the name. */
const blockSize = 16 * 1024

/** The entries of `pages` as the text of one JSON array, in blocks; the text of `whenEmpty` if there are none. */
export async function* jsonArray(
  pages: AsyncIterable<readonly unknown[]>,
  whenEmpty: () => string,
): AsyncIterable<string> {
  let isEmpty = true
  let block = ''
  for await (const page of pages) {
    // One call for a page costs a fraction of a call for each entry.
    block += (isEmpty ? '[' : ',') + JSON.stringify(page).slice(1, -1)
    isEmpty = false
    if (block.length < blockSize) continue
    yield block
    block = ''
  }
  yield isEmpty ? whenEmpty() : `${block}]`
}
