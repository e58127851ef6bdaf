import type { IncomingMessage } from 'node:http'
import { nameProblem } from '@holdfast/core'
import type { RouterMiddleware } from '@koa/router'
import { filesOf } from '../guards/authenticate.ts'
import { etagOf, refuseConditions } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { decodeUtf8, parseJson } from '../http/text.ts'
import { fileNameInPath, type HoldfastState } from '../server/exchange.ts'
import { readWholeBody } from '../server/request-body.ts'

/** The body of `POST /rename/:filename`. */
export interface RenameRequest {
  /** The new name. */
  readonly to: string
  /** Whether a file of the new name is kept, and the request refused. Default: it is replaced. */
  readonly createOnly?: boolean
}

/** POST /rename/:filename: gives a file another name. */
export const rename: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers, 'renames')
  const name = fileNameInPath(ctx)
  const files = filesOf(ctx.state)
  if (files.rename === undefined) throw problems.notFound()
  const { to, ...options } = await readRenameRequest(ctx.req)
  ctx.state.newName = to
  const problem = nameProblem(to)
  if (problem !== undefined) throw problems.invalidField('to', problem)
  const info = await files.rename(name, to, options)
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}

/** In bytes: a name has at most 255, of which JSON may write each as six. */
const longestBody = 4096

/** @throws HttpProblem 400 for a body that is not the JSON of a {@link RenameRequest} */
async function readRenameRequest(request: IncomingMessage): Promise<RenameRequest> {
  const body = await readWholeBody(request, longestBody)
  if (body === undefined) {
    throw problems.invalidField('body', `it is longer than ${longestBody} bytes`)
  }
  const data = parseJson(decodeUtf8(body))
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw noRenameRequest()
  const { to, createOnly, ...rest } = data as Readonly<Record<string, unknown>>
  if (Object.keys(rest).length > 0) throw noRenameRequest()
  if (typeof to !== 'string') throw problems.invalidField('to', 'it must be the new name')
  if (createOnly === undefined) return { to }
  if (typeof createOnly === 'boolean') return { to, createOnly }
  throw problems.invalidField('createOnly', 'it must be true or false')
}

function noRenameRequest() {
  return problems.invalidField('body', 'it must be JSON such as {"to":"b.txt","createOnly":true}')
}
