/**
 * A refusal that only a protocol of uploads in pieces knows of. Express and Koa answer with its `status` and `headers`, too,
 * where it comes to them.
 */
export class ProtocolProblem extends Error {
  override readonly name = 'ProtocolProblem'
  /** What is wrong, for programs. Stable, unlike the message. */
  readonly code: string
  readonly status: number
  /** Headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the message is meant for the client. */
  readonly expose = true

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
  }
}
