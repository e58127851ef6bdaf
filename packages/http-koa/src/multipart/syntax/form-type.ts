import type { IncomingMessage } from 'node:http'
import { problems } from '../../errors/problem.ts'

/** RFC 2046 §5.1.1. A long boundary full of repetitions slows the parser tenfold. In characters. */
const maxBoundaryLength = 70

const formData = /^multipart\/form-data[ \t]*(?=;|$)/i
// RFC 9110 §5.6.6: between two semicolons, and behind the last one, there may be nothing.
const separator = /[ \t]*;[ \t]*/y
const end = /[ \t]*$/y
const parameter = /([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/y
const token = /^[!#$%&'*+.^_`|~\w-]+$/

/** Whether the request says that its body is a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return formData.test(headers['content-type'] ?? '')
}

/**
 * Checks that the request's body is a form that can be parsed, and writes its type in the one way that all parsers read: some
 * take a semicolon at the end for another type.
 *
 * @throws HttpProblem 400 `No file` for another type or no body at all; `Malformed multipart body` where the boundary
 *   is missing or breaks RFC 2046
 */
export function checkFormType(request: IncomingMessage): void {
  if (!isForm(request) || !hasBody(request)) throw problems.noFile()
  const boundary = boundaryIn(request.headers['content-type'] ?? '')
  if (boundary === '' || boundary.length > maxBoundaryLength) throw problems.malformedMultipart()
  const value = token.test(boundary) ? boundary : `"${boundary.replaceAll(/["\\]/g, '\\$&')}"`
  request.headers['content-type'] = `multipart/form-data; boundary=${value}`
}

/** The first boundary; empty where there is none. */
function boundaryIn(type: string): string {
  let boundary: string | undefined
  let at = formData.exec(type)?.[0].length ?? 0
  while (!matchAt(end, type, at)) {
    const between = matchAt(separator, type, at)
    if (!between) throw problems.malformedMultipart()
    at += between[0].length
    if (at === type.length || type[at] === ';') continue
    const found = matchAt(parameter, type, at)
    if (!found) throw problems.malformedMultipart()
    at += found[0].length
    const [, name = '', quoted, unquoted = ''] = found
    const isBoundary = name.toLowerCase() === 'boundary'
    if (isBoundary) boundary ??= quoted?.replaceAll(/\\(.)/g, '$1') ?? unquoted.trim()
    if (quoted === undefined) requireToken(unquoted.trim(), isBoundary)
  }
  return boundary ?? ''
}

/** @throws HttpProblem 400 */
function requireToken(value: string, isBoundary: boolean): void {
  if (token.test(value)) return
  const reason = 'the boundary in the content type must be in quotes'
  throw problems.malformedMultipart(isBoundary && value !== '' ? reason : undefined)
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** RFC 9112 §6.3: a request without a length and without chunks has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
