import type { IncomingMessage } from 'node:http'
import { problems } from '../http/problems.ts'
import { hasBody } from '../server/request-body.ts'

/** The limits of forms, besides the size of files. */
export const formLimits = {
  /** The longest text field, in bytes. */
  fieldSize: 64 * 1024,
  fields: 100,
  /** How many parts a form with one file may have. */
  parts: 1000,
  /** How many header lines a part may have. */
  partHeaders: 1000,
  /** How many files a batch may have. */
  batchFiles: 10_000,
} as const

/** By RFC 2046 §5.1.1, in characters. A long boundary full of repetitions would slow the parser down tenfold. */
const maxBoundaryLength = 70

const formData = /^multipart\/form-data[ \t]*(?=;|$)/i
const semicolon = /[ \t]*;[ \t]*/y
const end = /[ \t]*$/y
const parameter = /([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;]*))/y
const token = /^[!#$%&'*+.^_`|~\w-]+$/

/** Whether the request says that its body is a form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return formData.test(headers['content-type'] ?? '')
}

/**
 * Checks that the request's body is a form that can be parsed, and rewrites its content type in a form that all parsers read:
 * some do not accept a semicolon at the end.
 *
 * @throws HttpProblem 400 `No file` for another type or without a body; 400 `Malformed multipart body` when the boundary is
 *   missing or breaks RFC 2046
 */
export function checkFormType(request: IncomingMessage): void {
  if (!isForm(request) || !hasBody(request)) throw problems.noFile()
  const boundary = boundaryIn(request.headers['content-type'] ?? '')
  if (boundary === '' || boundary.length > maxBoundaryLength) throw problems.malformedMultipart()
  const value = token.test(boundary) ? boundary : `"${boundary.replaceAll(/["\\]/g, '\\$&')}"`
  request.headers['content-type'] = `multipart/form-data; boundary=${value}`
}

/** The first boundary in a content type; empty if there is none. */
function boundaryIn(type: string): string {
  let boundary: string | undefined
  let at = formData.exec(type)?.[0].length ?? 0
  while (!matchAt(end, type, at)) {
    const between = matchAt(semicolon, type, at)
    if (!between) throw problems.malformedMultipart()
    at += between[0].length
    // RFC 9110 §5.6.6 allows nothing between two semicolons, and after the last one.
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

/** The match of the sticky `pattern` in `text` at `at`. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** The `Content-Disposition` of a part of a form. */
export interface FormDisposition {
  /** The field's name. */
  readonly name: string
  /** The file's name as the client sends it, possibly empty. Absent for a text field. */
  readonly filename?: string
}

/**
 * Reads a part's header `Content-Disposition` (RFC 7578 §4.2), in which each character is a byte. Returns `undefined` if the
 * header cannot be read, or its meaning is not clear, for example because it is there twice: clients write names in different
 * ways, and a wrong reading would store a file under a wrong name, or lose it.
 *
 * These syntaxes are tried one after the other, each on the whole header: that of RFC 9110 §5.6.4, where a backslash escapes a
 * quote or a backslash; that of browsers (WHATWG HTML, "multipart/form-data"), where the next quote always ends a name; and that
 * of clients that escape nothing, where the last quote ends the name.
 */
export function readFormDisposition([header, ...more]: readonly string[] = []):
  | FormDisposition
  | undefined {
  if (header === undefined || more.length > 0) return undefined
  for (const takeQuoted of [takeStandard, takeLiteral, takeUnescaped]) {
    const parameters = parseParameters(header, takeQuoted)
    if (parameters) return toDisposition(parameters)
  }
  return undefined
}

/** A value, and the position after it. */
interface Taken {
  readonly value: string
  readonly end: number
}

/** Reads the value whose opening quote is right before `start`. */
type TakeQuoted = (header: string, start: number, attribute: string) => Taken | undefined

const type = /^[ \t]*form-data[ \t]*(?=;|$)/i
const attribute = /([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*/y
const unquoted = /[^;"]*/y

/** Allows spaces around `=` (RFC 822) and empty parameters (RFC 9110 §5.6.6). A name that comes twice is refused. */
function parseParameters(
  header: string,
  takeQuoted: TakeQuoted,
): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>()
  let at = type.exec(header)?.[0].length
  while (at !== undefined && !matchAt(end, header, at)) {
    const separator = matchAt(semicolon, header, at)
    if (!separator) return undefined
    at += separator[0].length
    const found = matchAt(attribute, header, at)
    if (!found) continue
    const name = (found[1] ?? '').toLowerCase()
    const start = at + found[0].length
    const taken =
      header[start] === '"' ? takeQuoted(header, start + 1, name) : takeUnquoted(header, start)
    if (!taken || parameters.has(name)) return undefined
    parameters.set(name, taken.value)
    at = taken.end
  }
  return at === undefined ? undefined : parameters
}

/**
 * Reads a value without quotes, which some clients send even if a name has spaces. Refuses a value that seems to include a
 * parameter without a semicolon before it, and one that may be a name that begins with a semicolon.
 */
function takeUnquoted(header: string, start: number): Taken | undefined {
  const value = matchAt(unquoted, header, start)?.[0] ?? ''
  const beginsWithSemicolon = value.trim() === '' && header[start + value.length] === ';'
  const isUnclear = beginsWithSemicolon || hasAfter(value, /[ \t]/, /=/)
  return isUnclear ? undefined : { value: value.trim(), end: start + value.length }
}

/** If a backslash is neither before a quote nor part of a pair, the client does not escape backslashes: then all are literal. */
const takeStandard: TakeQuoted = (header, start) => {
  let end = start
  while (end < header.length && header[end] !== '"') end += isPair(header, end) ? 2 : 1
  const text = header.slice(start, end)
  const hasLone = text.replaceAll(/\\["\\]/g, '').includes('\\')
  const value = text.replaceAll(/\\(["\\])/g, (pair, escaped: string) =>
    hasLone && escaped === '\\' ? pair : escaped,
  )
  return end < header.length ? { value, end: end + 1 } : undefined
}

function isPair(text: string, at: number): boolean {
  return text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')
}

const takeLiteral: TakeQuoted = (header, start) => {
  const end = header.indexOf('"', start)
  return end < 0 ? undefined : { value: header.slice(start, end), end: end + 1 }
}

/** Reads a file name at the end of the header, if the quotes in it can only be part of the name. */
const takeUnescaped: TakeQuoted = (header, start, attribute) => {
  const end = header.lastIndexOf('"')
  const value = header.slice(start, Math.max(start, end))
  const isUnclear = value.includes('\\') || hasAfter(value, /"/, /[;=]/)
  if (attribute !== 'filename' || isUnclear) return takeLiteral(header, start, attribute)
  return end < start ? undefined : { value, end: end + 1 }
}

/** Whether `second` matches after the first match of `first`. One regular expression for both would take n² steps. */
function hasAfter(text: string, first: RegExp, second: RegExp): boolean {
  const at = text.search(first)
  return at >= 0 && second.test(text.slice(at))
}

/** Parameters that continue others (RFC 2231 §3): they have no meaning in HTTP. */
const continued = /^(?:file)?name\*./

function toDisposition(parameters: ReadonlyMap<string, string>): FormDisposition | undefined {
  const name = textOf(parameters, 'name')
  const filename = textOf(parameters, 'filename')
  const isBroken =
    filename === unreadable || [...parameters.keys()].some((key) => continued.test(key))
  if (!name || name === unreadable || isBroken) return undefined
  return filename === undefined ? { name } : { name, filename }
}

const unreadable = Symbol('unreadable')

/** The text of a parameter. An extended one, such as `filename*`, takes precedence, even if it cannot be read. */
function textOf(
  parameters: ReadonlyMap<string, string>,
  name: string,
): string | typeof unreadable | undefined {
  const extended = parameters.get(`${name}*`)
  if (extended !== undefined) return decodeExtended(extended) ?? unreadable
  const plain = parameters.get(name)
  return plain === undefined ? undefined : undoFormEscapes(Buffer.from(plain, 'latin1').toString())
}

const extendedValue = /^([\w!#$%&+^`{}~-]+)'[^']*'((?:%[0-9a-f]{2}|[\w!#$&+.^`|~-])*)$/i

/** Decodes an extended value (RFC 8187 §3.2). */
function decodeExtended(value: string): string | undefined {
  const [, charset, encoded] = extendedValue.exec(value) ?? []
  if (charset === undefined || encoded === undefined) return undefined
  const bytes = encoded.replaceAll(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    // There is no such charset.
    return undefined
  }
}

const escapes: Readonly<Record<string, string>> = { '%22': '"', '%0d': '\r', '%0a': '\n' }

/**
 * `text` as it was before a browser put it into a form. The WHATWG algorithm for multipart/form-data escapes only these three
 * characters, and not the percent sign.
 */
export function undoFormEscapes(text: string): string {
  return text.replace(/%22|%0d|%0a/gi, (escape) => escapes[escape.toLowerCase()] ?? escape)
}

const replacementCharacter = '\ufffd'

/**
 * The file name in a part's `filename`: what follows the last slash, as in browsers and multer. A backslash is an ordinary
 * character. `filename` is `undefined` if it cannot be read.
 *
 * @throws HttpProblem 400 `Malformed multipart body` when `filename` cannot be read; 400 `Invalid filename` when it was not
 *   UTF-8, or had control characters. The parser shows both as a replacement character, so a name that really has this
 *   character is refused, too: otherwise two names could become one. `PUT` accepts such a name.
 */
export function partFileName(filename: string | undefined): string {
  if (filename === undefined) throw problems.malformedMultipart()
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  if (name.includes(replacementCharacter)) {
    throw problems.invalidFilename('it is not valid UTF-8, or contains a control character')
  }
  return name
}

/**
 * The digest in the text fields `sha256` of a form, in lower case; `undefined` if there is no such field.
 *
 * @throws HttpProblem 400 when there are several fields, or the only one is not a SHA-256 digest in hexadecimal
 */
export function expectedSha256([sha256, ...more]: readonly string[]): string | undefined {
  if (sha256 === undefined) return undefined
  if (more.length > 0 || !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw problems.invalidField('sha256', 'it must be sent once, as 64 hexadecimal digits')
  }
  return sha256.toLowerCase()
}
