import { HoldfastError } from '../shared/holdfast-error.ts'

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
