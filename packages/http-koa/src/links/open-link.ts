import type { FileLinks, FileService } from '@holdfast/core'
import type { Context, Middleware } from 'koa'
import { networkOf, type AddressOf } from '../address/address-of.ts'
import type { AuditRecorder } from '../audit/audit-recorder.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { decodePathSegment } from '../http/utf8.ts'

export interface LinkOpening {
  readonly service: FileService
  readonly links: FileLinks
  readonly addressOf: AddressOf
  readonly recorder: AuditRecorder
}

/**
 * Lets a request with `?link=` in for the one file that the link opens; all others are left to `customersOnly`. The link alone
 * counts: where an application logs in by cookies, a browser may send those of another customer.
 */
export function createLinkOpening(
  { service, links, addressOf, recorder }: LinkOpening,
  customersOnly: Middleware<HoldfastState>,
): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const tokens = new URLSearchParams(ctx.querystring).getAll('link')
    if (tokens.length === 0) {
      await customersOnly(ctx, next)
      return
    }
    const exchange = exchangeIn(ctx)
    const record = recorder(exchange)
    // Of two links each could be meant, so neither is right.
    const token = tokens.length === 1 ? (tokens[0] ?? '') : ''
    const name = decodePathSegment(ctx.path.slice(ctx.path.lastIndexOf('/') + 1)) ?? ''
    const address = networkOf(addressOf(ctx.req))
    try {
      const { customer, inline } = await links.open({ token, name, address })
      ctx.state.files = service.filesOf(customer)
      ctx.state.link = { inline }
    } catch (error) {
      await record('download', { file: name }, { error })
      throw error
    }
    await next()
    if (beginsFile(ctx)) await record('download', { file: name })
  }
}

/** Whether the answer is the content from its first byte: of the many parts that a player asks for, one is enough. */
function beginsFile(ctx: Context): boolean {
  const { status } = ctx
  const isPart = status === 206 && !ctx.response.get('Content-Range').startsWith('bytes 0-')
  return ctx.method === 'GET' && (status === 200 || status === 206) && !isPart
}
