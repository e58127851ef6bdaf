/** The only version of the protocol that there is. */
export const tusVersion = '1.0.0'

/**
 * A refusal that only the protocol knows of. Express and Koa answer with its `status` and `headers`, too, where it comes to
 * them.
 */
export class TusProblem extends Error {
  override readonly name = 'TusProblem'
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

/** Wordings of docs/api.md, each in one place. */
export const problems = {
  unknownVersion: () =>
    new TusProblem('unknown-tus-version', 412, `Tus-Resumable must be ${tusVersion}`, {
      'Tus-Version': tusVersion,
    }),
  unknownContentType: () =>
    new TusProblem(
      'unknown-content-type',
      415,
      'Content-Type must be application/offset+octet-stream',
    ),
  checksumMismatch: () => new TusProblem('checksum-mismatch', 460, 'Checksum mismatch'),
  noFileName: () =>
    new TusProblem('no-file-name', 400, 'No filename. Use Upload-Metadata: filename <base64>'),
  invalidField: (field: string, reason: string) =>
    new TusProblem('invalid-field', 400, `Invalid ${field}: ${reason}`),
  invalidHeader: (header: string, reason: string) =>
    new TusProblem('invalid-header', 400, `Invalid ${header}: ${reason}`),
  methodNotAllowed: (allow: string) =>
    new TusProblem('method-not-allowed', 405, `Method not allowed. Use ${allow}`, {
      Allow: allow,
    }),
} as const
