import { extname } from 'node:path'
import { contentType } from 'mime-types'

/** Types by extension: to look one up takes longer. */
const known = new Map<string, string>()

/** Names can have any extension; these are more than are in use. */
const maxKnown = 1_000

/** The media type of a file by its extension, of the table that Koa uses; for others, bytes of no type in particular. */
export function mediaTypeOf(name: string): string {
  const extension = extname(name)
  const seen = known.get(extension)
  if (seen !== undefined) return seen
  const type = contentType(extension) || 'application/octet-stream'
  if (known.size < maxKnown) known.set(extension, type)
  return type
}
