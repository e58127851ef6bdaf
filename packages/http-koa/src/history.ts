import type { RouterMiddleware } from '@koa/router'
import { isVersion, type CustomerFiles, type KeptBlob, nameProblem } from '@holdfast/core'
import { mediaTypeOf } from './downloads/serve.ts'
import { filesOf } from './guards/enter.ts'
import { refuseConditions } from './http/conditional.ts'
import { problems } from './http/problems.ts'
import { jsonArray, longestHeld, nextPage, pageText, sendList, parseLimit } from './lists/list.ts'
import { fileNameInPath, type HoldfastState, soleParameter } from './server/exchange.ts'
import { readObject } from './server/request-body.ts'
import { answerStored } from './uploads/upload.ts'

/**
 * GET and HEAD /versions/:filename: the earlier versions of a file, newest first. The list is empty if there is only the present
 * file.
 */
export const versions: RouterMiddleware<HoldfastState> = async (ctx) => {
  const name = fileNameInPath(ctx)
  const files = filesOf(ctx.state)
  const { history } = files
  if (history === undefined) throw problems.notFound()
  const query = new URLSearchParams(ctx.querystring)
  const before = parseBefore(query)
  await sendKept(ctx, {
    query,
    list: (limit) => history.versions(name, { ...limit, ...(before !== undefined && { before }) }),
    show: ({ version, replacedAt, ...info }) => ({
      version,
      name: info.name,
      size: info.size,
      modified: info.modifiedAt.toISOString(),
      replaced: replacedAt.toISOString(),
      type: mediaTypeOf(info.name),
    }),
    cursor: 'before',
    keyOf: ({ version }) => version,
    async whenEmpty() {
      if (before === undefined && !(await isListed(files, name))) throw problems.unknownFile()
      return '[]'
    },
  })
}

/** GET and HEAD /deleted: the names that have no file, but earlier versions, each with its last one. */
export const deleted: RouterMiddleware<HoldfastState> = async (ctx) => {
  const { history } = filesOf(ctx.state)
  if (history === undefined) throw problems.notFound()
  const query = new URLSearchParams(ctx.querystring)
  const after = soleParameter(query, 'after')
  const prefix = soleParameter(query, 'prefix')
  const selection = {
    ...(after !== undefined && { after }),
    ...(prefix !== undefined && { prefix }),
  }
  await sendKept(ctx, {
    query,
    list: (limit) => history.deleted({ ...limit, ...selection }),
    show: ({ version, replacedAt, ...info }) => ({
      name: info.name,
      version,
      size: info.size,
      modified: info.modifiedAt.toISOString(),
      deleted: replacedAt.toISOString(),
      type: mediaTypeOf(info.name),
    }),
    cursor: 'after',
    keyOf: ({ name }) => name,
    whenEmpty: () => '[]',
  })
}

interface KeptList {
  readonly query: URLSearchParams
  readonly list: (options: { readonly limit?: number }) => AsyncIterable<readonly KeptBlob[]>
  /** The value that becomes the entry's JSON. */
  readonly show: (kept: KeptBlob) => object
  /** The parameter that leads to the next page, and its value for the last entry of this one. */
  readonly cursor: 'after' | 'before'
  readonly keyOf: (kept: KeptBlob) => string
  readonly whenEmpty: () => string | Promise<string>
}

/** Answers with all entries; with `limit` in pages, which are held in memory and so have at most {@link longestHeld} entries. */
async function sendKept(
  ctx: Parameters<RouterMiddleware<HoldfastState>>[0],
  { query, list, show, cursor, keyOf, whenEmpty }: KeptList,
): Promise<void> {
  const asked = parseLimit(query)
  const linkNext = (last: KeptBlob) => ctx.set('Link', nextPage(query, keyOf(last), cursor))
  await sendList(ctx, async function* (reader) {
    if (asked === undefined) {
      yield* jsonArray(reader.read(list({})), { show }, whenEmpty)
      return
    }
    const limit = Math.min(asked, longestHeld)
    yield await pageText(
      reader.read(list({ limit: limit + 1 })),
      limit,
      { show },
      linkNext,
      whenEmpty,
    )
  })
}

/** The version in `before`; `undefined` also if it is empty, as the first one of a client that pages. */
function parseBefore(query: URLSearchParams): string | undefined {
  const before = soleParameter(query, 'before')
  if (before === undefined || before === '') return undefined
  if (!isVersion(before)) throw problems.invalidQuery('before', 'it must be a version')
  return before
}

/** Whether the customer has a file of the name; unlike `stat`, a list does not need the right to read. */
async function isListed(files: CustomerFiles, name: string): Promise<boolean> {
  for await (const [first] of files.list({ prefix: name, limit: 1 })) return first === name
  return false
}

/** POST /restore/:filename: stores an earlier version of a file, or a deleted file, as a file again. */
export const restore: RouterMiddleware<HoldfastState> = async (ctx) => {
  const name = fileNameInPath(ctx)
  refuseConditions(ctx.req.headers, 'restores')
  const { history } = filesOf(ctx.state)
  if (history === undefined) throw problems.notFound()
  const options = await readObject(ctx.req, restoreBody)
  const { as = name } = options
  if (as !== name) ctx.state.newName = as
  const problem = nameProblem(as)
  if (problem !== undefined) throw problems.invalidField('as', problem)
  answerStored(ctx, await history.restore(name, options))
}

const restoreBody = {
  shape: { version: 'version', as: 'name', createOnly: 'flag' },
  example: '{"version":"5yxyd-g","as":"b.txt","createOnly":true}',
  mayBeEmpty: true,
} as const
