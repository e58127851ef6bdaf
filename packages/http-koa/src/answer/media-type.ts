import { extname } from 'node:path'
import type { Context } from 'koa'

/** Types by extension, as far as answers have been given one. */
const known = new Map<string, string>()

/** Names can have any extension; these are more than are in use. */
const maxKnown = 1_000

/** Sets the Content-Type of a file by its extension: what Koa knows of it, or bytes of no type in particular. */
export function setMediaType(ctx: Context, name: string): void {
  const extension = extname(name)
  ctx.type = extension
  if (!ctx.type) ctx.type = 'application/octet-stream'
  if (known.size < maxKnown) known.set(extension, ctx.response.get('Content-Type'))
}

/** The same without a context, as far as it was set before. */
export function knownMediaType(name: string): string | undefined {
  return known.get(extname(name))
}
