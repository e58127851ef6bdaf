import type * as Http from 'node:http'
import { createRequire } from 'node:module'

/**
 * A refusal that only HTTP knows of: what the request itself got wrong, or what its preconditions forbid. Koa and Express
 * answer with its `status` and `headers`, too, where it comes to them.
 */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  /** What is wrong, as programs read it in the audit trail. Stable, unlike the message. */
  readonly code: string
  readonly status: number
  /** Headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the message is meant for the client and not logged, as Koa and others use it. */
  readonly expose: boolean

  constructor(
    code: string,
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.code = code
    this.status = status
    this.headers = headers
    this.expose = status < 500
  }
}

// `import` would have Node read all names of the module, some of which load what `fetch` is made of.
const { STATUS_CODES } = createRequire(import.meta.url)('node:http') as typeof Http

/** The text of a status: of RFC 9110 and its kin, or of tus. */
export function statusText(status: number): string {
  return status === 460 ? 'Checksum Mismatch' : (STATUS_CODES[status] ?? 'Error')
}
