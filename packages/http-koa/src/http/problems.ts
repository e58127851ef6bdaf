import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { HttpProblem, statusText, errorAnswer } from '@holdfast/resumable'
import { isFileServiceError } from '@holdfast/core'
import { headerValues } from './text.ts'

/** The body of every error: exactly these three fields. */
export interface ErrorBody {
  readonly statusCode: number
  /** The status text of RFC 9110 and its kin, such as `Bad Request`. */
  readonly error: string
  readonly message: string
}

export function errorBody(statusCode: number, message: string): ErrorBody {
  return { statusCode, error: statusText(statusCode), message }
}

/** The request may have another meaning than we read, so nothing after it on the connection is read. */
const lastOnConnection = { Connection: 'close' }

const invalidRequest = (message: string) =>
  new HttpProblem('malformed-request', 400, message, lastOnConnection)

/** The errors with the words of the specification and of docs/api.md. */
export const problems = {
  malformedRequest: () => invalidRequest('Malformed request'),
  oneHost: () => invalidRequest('Exactly one Host header is required'),
  invalidHost: () => invalidRequest('Invalid Host header'),
  fragmentInTarget: () => invalidRequest('Invalid request target: write %23 for #'),
  unknownTransferCoding: () =>
    new HttpProblem(
      'unknown-transfer-coding',
      501,
      'The only supported transfer coding is chunked',
      lastOnConnection,
    ),
  unknownVersion: () =>
    new HttpProblem(
      'unknown-http-version',
      505,
      'The only supported versions of HTTP are 1.0 and 1.1',
      lastOnConnection,
    ),
  noFile: () => new HttpProblem('no-file', 400, 'No file'),
  moreThanOneFile: () => new HttpProblem('more-than-one-file', 400, 'More than one file'),
  malformedMultipart: (reason?: string) =>
    new HttpProblem(
      'malformed-multipart',
      400,
      ['Malformed multipart body', ...(reason === undefined ? [] : [reason])].join(': '),
    ),
  truncatedBody: () => new HttpProblem('truncated-body', 400, 'Truncated body'),
  // The client left or cancelled the form before the upload could be published.
  discarded: () => new HttpProblem('truncated-body', 400, 'The upload was discarded'),
  noFilename: (route: string) =>
    new HttpProblem('no-file-name', 400, `No filename. Use /${route}/<filename>`),
  invalidFilename: (reason: string) =>
    new HttpProblem('invalid-file-name', 400, `Invalid filename: ${reason}`),
  unknownFile: () => new HttpProblem('unknown-file', 404, 'File not found'),
  noFilesYet: () => new HttpProblem('no-files-yet', 400, 'No files uploaded yet'),
  invalidQuery: (parameter: string, reason: string) =>
    new HttpProblem('invalid-query', 400, `Invalid ${parameter}: ${reason}`),
  invalidField: (field: string, reason: string) =>
    new HttpProblem('invalid-field', 400, `Invalid ${field}: ${reason}`),
  invalidHeader: (header: string, reason: string) =>
    new HttpProblem('invalid-header', 400, `Invalid ${header}: ${reason}`),
  tooManyParts: (limit: number) =>
    new HttpProblem('too-many-parts', 413, `More than ${limit} parts in the form`),
  tooManyFiles: (limit: number) =>
    new HttpProblem('too-many-files', 413, `More than ${limit} files in the form`),
  tooManyFields: (limit: number) =>
    new HttpProblem('too-many-fields', 413, `More than ${limit} text fields in the form`),
  fieldTooLarge: (limit: number) =>
    new HttpProblem('field-too-large', 413, `A text field of the form exceeds ${limit} bytes`),
  tooManyNames: (limit: number) =>
    new HttpProblem('too-many-names', 413, `More than ${limit} names in the body`),
  bodyTooLarge: (limit: number) =>
    new HttpProblem('body-too-large', 413, `The body exceeds ${limit} bytes`),
  preconditionFailed: () => new HttpProblem('precondition-failed', 412, 'Precondition Failed'),
  rangeNotSatisfiable: (size: number) =>
    new HttpProblem('range-not-satisfiable', 416, 'Range not satisfiable', {
      'Content-Range': `bytes */${size}`,
    }),
  notFound: () => new HttpProblem('unknown-path', 404, 'Not Found'),
  slashInName: () => new HttpProblem('unknown-path', 404, 'Not Found: the name of a file has no /'),
  methodNotAllowed: (allow: string) =>
    new HttpProblem('method-not-allowed', 405, `Method not allowed. Use ${allow}`, {
      Allow: allow,
    }),
} as const

/** The codes `LIMIT_…` of multer that do not limit an amount. */
const shapes: readonly string[] = [
  'LIMIT_UNEXPECTED_FILE',
  'LIMIT_FIELD_NESTING',
  'LIMIT_FIELD_ARRAY_INDEX',
]

/** The messages of busboy, which multer uses, for a body that is not a form; these errors have no code. */
const malformed =
  /^(?:Malformed (?:part header|content type|urlencoded form)|Multipart: Boundary not found|Missing Content-Type|Unsupported content type: .*)$/s

/**
 * The answer to an error of multer, which is the client's mistake: 413 for too much of something, otherwise 400. `undefined`
 * for all other errors. It compares names and messages, not classes, since an application has its own copy of multer.
 */
function multerProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.message === 'Unexpected end of form') return problems.truncatedBody()
  if (malformed.test(error.message)) return problems.malformedMultipart()
  if (error.name !== 'MulterError' || !('code' in error)) return undefined
  const code = String(error.code)
  const status = code.startsWith('LIMIT_') && !shapes.includes(code) ? 413 : 400
  return new HttpProblem(code.toLowerCase().replaceAll('_', '-'), status, error.message)
}

/** The code of an error; `unexpected` for an error that has none. */
export function codeOf(error: unknown): string {
  if (error instanceof HttpProblem || isFileServiceError(error)) return error.code
  return multerProblem(error)?.code ?? 'unexpected'
}

/** The answer to `error`, also to an error of multer; 500 for unknown errors. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (!isFileServiceError(error))
    return (
      multerProblem(error) ?? new HttpProblem('unexpected', 500, 'An unexpected error occurred')
    )
  const { status, message, headers } = errorAnswer(error)
  return new HttpProblem(error.code, status, message, headers)
}

/**
 * What is wrong with a request that Node's parser has accepted, on any path; `undefined` if nothing is. The client may have
 * meant another request, so the server must not process it, nor read anything after it on the connection.
 */
export function requestProblem(request: IncomingMessage): HttpProblem | undefined {
  const { httpVersion, url = '' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return problems.unknownVersion()
  const hosts = headerValues(request, 'host')
  // RFC 9112 §3.2: exactly one, from HTTP/1.1 on.
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) return problems.oneHost()
  if (!hosts.every(isHost)) return problems.invalidHost()
  if (!isRequestTarget(url)) return problems.malformedRequest()
  // A fragment is never sent (RFC 9112 §3.2.1), and URL parsers drop it: `/delete/a#b` would delete `a`.
  if (url.includes('#')) return problems.fragmentInTarget()
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && !isChunked(coding)) return problems.unknownTransferCoding()
  return undefined
}

/** The beginning of an absolute URL; the group is its authority. */
const absoluteTarget = /^https?:\/\/([^/?#]+)/i

/**
 * Whether `url` is a path, `*`, or an absolute URL of a possible host (RFC 9112 §3.2). One with user information is none: it most likely
 * hides the host (RFC 9110 §4.2.4).
 */
function isRequestTarget(url: string): boolean {
  if (hasOriginForm(url)) return true
  const host = absoluteTarget.exec(url)?.[1]
  return host !== undefined && isHost(host)
}

/**
 * Makes an absolute target the path and query that it has (RFC 9112 §3.2.2), so that no URL parser has to read its authority: Node's throws
 * at some that are possible, finds no path behind others, or prints the target in a warning, with the token of a link.
 */
export function useOriginForm(request: IncomingMessage): void {
  const { url = '' } = request
  if (hasOriginForm(url)) return
  const rest = url.replace(absoluteTarget, '')
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}

/** Whether `url` is a path, with or without a query, or `*`. */
export function hasOriginForm(url: string): boolean {
  return url.startsWith('/') || url === '*'
}

/** RFC 3986 §3.2.2, but without the comma: a value with a comma is most likely two headers that a proxy has joined. */
const nameAndPort = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*(?::\d*)?$/i
const literalAndPort = /^\[([^\]]*)\](?::\d*)?$/
/** RFC 3986 §3.2.2, for future versions of IP. */
const futureAddress = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i

function isHost(text: string): boolean {
  if (nameAndPort.test(text)) return true
  const literal = literalAndPort.exec(text)?.[1]
  return literal !== undefined && (isIPv6(literal) || futureAddress.test(literal))
}

function isChunked(coding: string): boolean {
  return coding === 'chunked' || coding.toLowerCase() === 'chunked'
}
