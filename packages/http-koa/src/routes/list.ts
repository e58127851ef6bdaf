import type { RouterMiddleware } from '@koa/router'
import type { BlobInfo } from '@holdfast/core'
import { mediaTypeOf } from '../answer/media-type.ts'
import { streamBody } from '../answer/stream-body.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { etagOf } from '../http/conditional.ts'
import { parseListQuery } from '../http/list-query.ts'
import { nextPage } from '../http/next-page.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { createListReader } from './list-reader.ts'
import { listText, type EntryKind } from './list-text.ts'

/**
 * GET and HEAD /list: the names of the customer's files, or what is known of each. Having no file at all is an error, by
 * the specification; a page after the last name is an empty array. Where `limit` cuts the list, a Link leads to the next
 * page.
 */
export const list: RouterMiddleware<HoldfastState> = async (ctx) => {
  const query = new URLSearchParams(ctx.querystring)
  const { details, ...options } = parseListQuery(query)
  const reader = createListReader()
  const request = {
    files: filesOf(ctx.state),
    options,
    reader,
    linkNext: (last: string) => ctx.set('Link', nextPage(query, last)),
  }
  const text = details ? listText(request, detailed) : listText(request, named)
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

const detailed: EntryKind<BlobInfo> = {
  list: (files, options) => files.listDetails(options),
  nameOf: ({ name }) => name,
  // What /serve says of the file in its headers.
  show: (info) => ({
    name: info.name,
    size: info.size,
    modified: info.modifiedAt.toISOString(),
    type: mediaTypeOf(info.name),
    etag: etagOf(info),
  }),
}
