import { checkFileName } from '@holdfast/core'
import type { Context } from 'koa'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { problems } from '../errors/problem.ts'
import { decodePathSegment } from '../http/utf8.ts'

/**
 * The file name that the path ends with, percent-decoded once, and judged before anything else of the request is.
 * `ctx.state.fileName` has it, too, even if it is refused.
 *
 * @throws HttpProblem 400 when it is not valid percent-encoding, or not UTF-8
 * @throws FileServiceError `invalid-file-name`
 */
export function fileNameInPath(ctx: Context & { state: HoldfastState }): string {
  // The router's own parameters are decoded leniently: `%ZZ` would pass for a name.
  const name = decodePathSegment(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
  if (name === undefined) throw problems.invalidFilename('it is not percent-encoded UTF-8')
  ctx.state.fileName = name
  checkFileName(name)
  return name
}
