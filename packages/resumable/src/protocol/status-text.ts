import type * as Http from 'node:http'
import { createRequire } from 'node:module'

// `import` would have Node read all names of the module, some of which load what `fetch` is made of.
const { STATUS_CODES } = createRequire(import.meta.url)('node:http') as typeof Http

/** The text of a status: of RFC 9110 and its kin, or of tus. */
export function statusText(status: number): string {
  return status === 460 ? 'Checksum Mismatch' : (STATUS_CODES[status] ?? 'Error')
}
