import type { IncomingMessage } from 'node:http'
import { nameProblem, type RestoreOptions } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import { filesOf } from '../guards/authenticate.ts'
import { etagOf, refuseConditions } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { decodeUtf8, parseJson } from '../http/text.ts'
import { fileNameInPath, type HoldfastState } from '../server/exchange.ts'
import { readWholeBody } from '../server/request-body.ts'

/** POST /restore/:filename: stores an earlier version of a file, or a deleted file, as a file again. */
export const restore: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers, 'restores')
  const name = fileNameInPath(ctx)
  const { history } = filesOf(ctx.state)
  if (history === undefined) throw problems.notFound()
  const options = await readRestoreRequest(ctx.req)
  const { as = name } = options
  if (as !== name) ctx.state.newName = as
  const problem = nameProblem(as)
  if (problem !== undefined) throw problems.invalidField('as', problem)
  const info = await history.restore(name, options)
  ctx.state.stored = info
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}

/** In bytes: a name has at most 255, of which JSON may write each as six, and a version 200. */
const longestBody = 4096

/** The options in the body; an empty body means none. @throws HttpProblem 400 for a body that is not their JSON */
async function readRestoreRequest(request: IncomingMessage): Promise<RestoreOptions> {
  const body = await readWholeBody(request, longestBody)
  if (body === undefined) {
    throw problems.invalidField('body', `it is longer than ${longestBody} bytes`)
  }
  if (body.length === 0) return {}
  const data = parseJson(decodeUtf8(body))
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw noRestoreRequest()
  const { version, as, createOnly, ...rest } = data as Readonly<Record<string, unknown>>
  if (Object.keys(rest).length > 0) throw noRestoreRequest()
  if (!isOptionalText(version)) throw problems.invalidField('version', 'it must be a version')
  if (!isOptionalText(as)) throw problems.invalidField('as', 'it must be a name')
  if (createOnly !== undefined && typeof createOnly !== 'boolean') {
    throw problems.invalidField('createOnly', 'it must be true or false')
  }
  return {
    ...(version !== undefined && { version }),
    ...(as !== undefined && { as }),
    ...(createOnly !== undefined && { createOnly }),
  }
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string'
}

function noRestoreRequest() {
  return problems.invalidField(
    'body',
    'it must be JSON such as {"version":"5yxyd-g","as":"b.txt","createOnly":true}',
  )
}
