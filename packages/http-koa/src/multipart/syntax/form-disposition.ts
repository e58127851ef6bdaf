import { undoFormEscapes } from './undo-form-escapes.ts'

/** What a part of a form says of itself. */
export interface FormDisposition {
  /** Of the field. */
  readonly name: string
  /** What the client calls the file, which may be the empty string. Left out for a text field. */
  readonly filename?: string
}

/**
 * Reads a part's header `Content-Disposition` (RFC 7578 §4.2), a character for each byte. `undefined` where it has no
 * reading, or several, as where it is there twice: clients differ in how they write a name, and a wrong reading stores a
 * file under a wrong name, or loses it.
 *
 * These readings are tried in turn, each on the whole header: that of RFC 9110 §5.6.4, where a backslash escapes a quote or
 * a backslash; that of browsers (WHATWG HTML, "multipart/form-data"), where the next quote ends a name, whatever is before
 * it; that of clients that escape nothing, where the last quote does.
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

/** A value, and where it ends. */
interface Taken {
  readonly value: string
  readonly end: number
}

/** Takes a value whose opening quote is before `start`. */
type TakeQuoted = (header: string, start: number, attribute: string) => Taken | undefined

const type = /^[ \t]*form-data[ \t]*(?=;|$)/i
const semicolon = /[ \t]*;[ \t]*/y
const end = /[ \t]*$/y
const attribute = /([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*/y
const unquoted = /[^;"]*/y

/** Spaces around `=` are those of RFC 822, an empty parameter is that of RFC 9110 §5.6.6. A name that comes twice is refused. */
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

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/**
 * Some clients leave the quotes out even where a name has spaces. What looks like a further parameter has no semicolon, and
 * what begins with a semicolon may be a name that does.
 */
function takeUnquoted(header: string, start: number): Taken | undefined {
  const value = matchAt(unquoted, header, start)?.[0] ?? ''
  const beginsWithSemicolon = value.trim() === '' && header[start + value.length] === ';'
  const isUnclear = beginsWithSemicolon || hasAfter(value, /[ \t]/, /=/)
  return isUnclear ? undefined : { value: value.trim(), end: start + value.length }
}

/** A lone backslash stands for itself: who sends one does not escape backslashes. */
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

/** For the name of a file at the end of the header, and only where quotes in it cannot be anything else. */
const takeUnescaped: TakeQuoted = (header, start, attribute) => {
  const end = header.lastIndexOf('"')
  const value = header.slice(start, Math.max(start, end))
  const isUnclear = value.includes('\\') || hasAfter(value, /"/, /[;=]/)
  if (attribute !== 'filename' || isUnclear) return takeLiteral(header, start, attribute)
  return end < start ? undefined : { value, end: end + 1 }
}

/** Whether `second` matches anywhere behind the first place where `first` does. One expression for both takes n² steps. */
function hasAfter(text: string, first: RegExp, second: RegExp): boolean {
  const at = text.search(first)
  return at >= 0 && second.test(text.slice(at))
}

/** A parameter that is continued in others (RFC 2231 §3) has no meaning in HTTP. */
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

/** The text of a parameter; `filename*` and the like win, and do not give way where they are broken. */
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

/** RFC 8187 §3.2. */
function decodeExtended(value: string): string | undefined {
  const [, charset, encoded] = extendedValue.exec(value) ?? []
  if (charset === undefined || encoded === undefined) return undefined
  const bytes = encoded.replaceAll(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    // No such charset.
    return undefined
  }
}
