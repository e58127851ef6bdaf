import type { ProblemCode } from '../api/description.ts'

/**
 * - A code of the API: the name of the error's schema in its description (docs/openapi.yaml).
 * - `no-answer`: the connection could not be made, broke, or made no progress for too long. The server may have carried out the request.
 * - `not-secure`: no TLS connection could be made: the certificate is not trusted, or the port does not use TLS. Nothing was sent.
 * - `changed-meanwhile`: the file to send has changed since it was opened, or its content is not as long as its size says.
 * - `unknown`: an answer that is not the API's, such as that of a proxy or of another program.
 */
export type HoldfastErrorCode =
  | ProblemCode
  | 'no-answer'
  | 'not-secure'
  | 'changed-meanwhile'
  | 'unknown'

/** Says why an operation failed. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError'
  readonly code: HoldfastErrorCode
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  /** The server's `Retry-After`, in seconds, if it sent one. */
  readonly retryAfter: number | undefined
  /** The id of the request in the server's log. */
  readonly requestId: string | undefined

  constructor(code: HoldfastErrorCode, message: string, details: HoldfastErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.code = code
    this.status = details.status ?? 0
    this.retryAfter = details.retryAfter
    this.requestId = details.requestId
  }
}

export interface HoldfastErrorDetails {
  readonly status?: number
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

export function isHoldfastError(
  error: unknown,
  ...codes: readonly HoldfastErrorCode[]
): error is HoldfastError {
  return error instanceof HoldfastError && (codes.length === 0 || codes.includes(error.code))
}

/**
 * Whether the error would stop every other file, too, so that it is pointless to continue with the next one: the server cannot be reached,
 * is no holdfast, is overloaded or without its store, or refuses the login.
 */
export function concernsAllFiles(error: unknown): boolean {
  return isHoldfastError(
    error,
    'no-answer',
    'not-secure',
    'unknown',
    'missing-credentials',
    'invalid-credentials',
    'too-many-attempts',
    'overloaded',
    'store-unavailable',
  )
}

/**
 * Whether it is certain that nothing was stored. Otherwise a second request could find the name taken by the file of the first one, and
 * nothing would show whose file it is.
 */
export function hasStoredNothing(error: unknown): boolean {
  if (isHoldfastError(error, 'overloaded', 'too-many-attempts')) return true
  return [refused, 'ENOTFOUND', 'EAI_AGAIN'].includes(codeOf((error as Error).cause))
}

/** Whether something before the server may have refused the piece for its size. */
export function mayBeTooLarge(error: unknown): boolean {
  return (
    isHoldfastError(error, 'no-answer') ||
    (isHoldfastError(error, 'unknown') && error.status === 413)
  )
}

/** Error codes of Node: no chain of certificates leads to a trusted one. */
const unknownIssuer =
  /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_UNTRUSTED|CERT_CHAIN_TOO_LONG|CERT_SIGNATURE)/

/** Other faults of a certificate: another name, expired, not yet valid, or for another purpose. */
const wrongCertificate =
  /^(CERT_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/

/** Both sides of TLS do not agree, or one demands something. */
const noAgreement = /handshake failure|protocol version|unsupported protocol|certificate required/

/**
 * The error for a request without an answer: `no-answer` if a retry may succeed; otherwise it says what is wrong with the address, or with
 * the server there.
 */
export function noAnswerError(error: unknown): HoldfastError {
  const code = codeOf(error)
  const reason = reasonOf(error)
  const insecure = (message: string) => new HoldfastError('not-secure', message, { cause: error })
  if (unknownIssuer.test(code)) {
    return insecure(
      `The certificate of the server is not trusted (${code}); to trust its issuer, set NODE_EXTRA_CA_CERTS to a file with that certificate`,
    )
  }
  if (wrongCertificate.test(code)) {
    return insecure(`The certificate of the server is not valid: ${reason}`)
  }
  if (/wrong version number|packet length too long|http request/.test(reason)) {
    return insecure('The server does not speak HTTPS at this address; http:// may be right')
  }
  if (noAgreement.test(reason)) return insecure(`No secure connection is possible: ${reason}`)
  if (code === 'HPE_INVALID_CONSTANT') {
    const message = 'There is no holdfast at this address: the program there does not speak HTTP'
    return new HoldfastError('unknown', message, { cause: error })
  }
  const said = code === refused ? `connection refused${addressOf(error)}` : reason
  return new HoldfastError('no-answer', `No answer: ${said}`, { cause: error })
}

const refused = 'ECONNREFUSED'

/** Whether nothing listens at the address. */
export function isConnectionRefused(error: unknown): boolean {
  return error instanceof HoldfastError && codeOf(error.cause) === refused
}

/** The first of several addresses that were tried. */
function addressOf(error: unknown): string {
  const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  const { address, port } = first as { readonly address?: unknown; readonly port?: unknown }
  return typeof address === 'string' ? ` at ${address} port ${String(port)}` : ''
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // If it tried several addresses, the message of Node is empty.
  return error.message || codeOf(error) || error.name
}

/** The error for content that is longer or shorter than its size says. */
export function wrongLength(): HoldfastError {
  return new HoldfastError('changed-meanwhile', 'The length of the content differs from its size')
}
