import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { repository } from '../machine.ts'

/** The parts of a request on which its answer depends. */
export interface AskedRequest {
  readonly method: string
  /** The method in `X-HTTP-Method-Override`, which some paths use. */
  readonly override?: string
  /** The target as it was sent, including the query. */
  readonly target: string
  /** Whether it is a preflight, which a browser sends before a request to another origin (CORS). */
  readonly isPreflight?: boolean
}

/** An answer as it was sent on the connection. */
export interface GivenAnswer {
  /** `undefined` if the server has answered something that is no request. */
  readonly request: AskedRequest | undefined
  readonly status: number
  /** Names and values in order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** `undefined` where it is unknown. */
  readonly body: Buffer | undefined
}

/** What is wrong with an answer according to the description; empty if nothing is. */
export type Judge = (answer: GivenAnswer) => readonly string[]

export function createJudge(description: Description): Judge {
  const beyond = description['x-beyond-operations']
  const find = createOperationFinder(description)
  const matches = createMatcher()

  const judgeBy = (response: Response, answer: GivenAnswer): string[] => [
    ...headerProblems(response, answer, beyond.headers, matches),
    ...bodyProblems(response, answer, matches),
  ]
  return (answer) => {
    const { request, status } = answer
    const candidates = [...(request ? find(request) : []), beyond.connection]
      .map((responses) => responses[status])
      .filter((response) => response !== undefined)
    const verdicts = candidates.map((response) => judgeBy(response, answer))
    if (verdicts.some((problems) => problems.length === 0)) return []
    return verdicts[0] ?? [`status ${status} is not described`]
  }
}

/** Finds the responses that a request may get: it gets one of these. */
function createOperationFinder(
  description: Description,
): (request: AskedRequest) => readonly Responses[] {
  const { otherPath, otherMethod } = description['x-beyond-operations']
  const operations = operationsOf(description)
  // A literal path comes before one with a name in braces.
  const paths = Object.keys(description.paths).sort(
    (one, other) => Number(one.includes('{')) - Number(other.includes('{')),
  )
  const patterns = paths.map(
    (path) => [path, new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const,
  )
  return ({ method, override = method, target }) => {
    const asked = pathIn(target)
    const [path] = patterns.find(([, pattern]) => pattern.test(asked)) ?? []
    const elsewhere = { 404: otherPath }
    if (path === undefined) return [elsewhere]
    return [...new Set([method, override.toUpperCase()])].map(
      (each) =>
        operations.find((operation) => operation.path === path && operation.method === each)
          ?.responses ?? { 405: otherMethod },
    )
  }
}

/** The path of a target in origin form or in absolute form (RFC 9112 §3.2). */
function pathIn(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
}

type Matches = (schema: Schema, value: unknown) => string | undefined

/** Makes a function that says how a value violates a schema. */
function createMatcher(): Matches {
  // Not strict: the schemas also use OpenAPI's `format: binary`, and our own keywords, which begin with `x-`.
  const ajv = new Ajv2020({ strict: false, logger: false })
  const compiled = new Map<Schema, ValidateFunction>()
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }
}

function headerProblems(
  { headers: own = {} }: Response,
  { headers }: GivenAnswer,
  anywhere: Readonly<Record<string, Header>>,
  matches: Matches,
): string[] {
  const described = new Map(
    Object.entries({ ...anywhere, ...own }).map(([name, header]) => [name.toLowerCase(), header]),
  )
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const missing = [...described].filter(([name, { required }]) => required && !given.has(name))
  return [
    ...missing.map(([name]) => `header ${name} is missing`),
    ...(given.size < headers.length ? ['a header is there twice'] : []),
    ...headers.flatMap(([name, value]) => {
      const header = described.get(name.toLowerCase())
      if (header === undefined) return [`header ${name} is not described`]
      const problem = matches(header.schema, valueOf(header.schema, value))
      return problem === undefined ? [] : [`header ${name}: ${JSON.stringify(value)} ${problem}`]
    }),
  ]
}

/** Headers are text, so converts numbers. */
function valueOf(schema: Schema, text: string): unknown {
  const isNumber = typeof schema === 'object' && schema['type'] === 'integer'
  return isNumber && /^\d+$/.test(text) ? Number(text) : text
}

function bodyProblems(
  { content }: Response,
  { headers, body, request }: GivenAnswer,
  matches: Matches,
): string[] {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (content === undefined) {
    const has = [type !== undefined && 'a type', body?.length && 'a body'].filter(Boolean)
    return has.map((what) => `it has ${String(what)}`)
  }
  const range = type !== undefined && content[type] ? type : '*/*'
  const media = content[range]
  if (type === undefined || media === undefined) return [`type ${type} is not described`]
  if (request?.method === 'HEAD') return body?.length ? ['it has a body'] : []
  return body === undefined ? [] : contentProblems(range, media, body.toString(), matches)
}

/** An empty text has no lines. */
const linesIn = (text: string) => (text === '' ? [] : text.trimEnd().split('\n'))

/** `range`: the type under which the description lists the content. A file may have a name of JSON, but other content. */
function contentProblems(
  range: string,
  media: MediaType,
  text: string,
  matches: Matches,
): string[] {
  const { schema, 'x-line-schema': lineSchema } = media
  try {
    const problems = [
      schema !== undefined &&
        matches(schema, range.startsWith('application/json') ? JSON.parse(text) : text),
      ...(lineSchema === undefined ? [] : linesIn(text)).map((line) =>
        matches(lineSchema ?? true, JSON.parse(line)),
      ),
    ]
    return problems.filter((problem) => typeof problem === 'string').map((each) => `body ${each}`)
  } catch (error) {
    return [`body: ${String(error)}`]
  }
}

/** A schema of JSON Schema 2020-12. */
export type Schema = boolean | Readonly<Record<string, unknown>>

export interface Header {
  readonly required?: boolean
  readonly schema: Schema
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
}

export interface MediaType {
  readonly schema?: Schema
  /** The schema of each line, for a body of lines of JSON. */
  readonly 'x-line-schema'?: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Response {
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export type Responses = Readonly<Record<string, Response>>

export interface OperationObject {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly responses: Responses
}

/** The parts of docs/openapi.yaml that tests use, with all references resolved. */
export interface Description {
  readonly info: { readonly description: string }
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, OperationObject | readonly Parameter[]>>>
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly headers: Readonly<Record<string, Header>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly securitySchemes: Readonly<Record<string, Parameter>>
  }
  readonly 'x-beyond-operations': {
    /** Headers that any answer may have. */
    readonly headers: Readonly<Record<string, Header>>
    readonly otherPath: Response
    readonly otherMethod: Response
    /** Possible answers to anything, even to bytes that are no request. */
    readonly connection: Responses
  }
}

/** A method of a path. */
export interface Operation extends OperationObject {
  /** In upper case. */
  readonly method: string
  /** With names in braces, such as `/serve/{filename}`. */
  readonly path: string
}

const file = join(repository, 'docs/openapi.yaml')

/** Reads the description from the repository; returns a new copy each time. */
export function readDescription(): Description {
  // Its form is tested against the schema of OpenAPI 3.1.
  return dereference(parse(readFileSync(file, 'utf8'))) as Description
}

export function operationsOf({ paths }: Description): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      'responses' in operation ? [{ ...operation, method: method.toUpperCase(), path }] : [],
    ),
  )
}

/**
 * A copy of `document` with its references resolved. References are pointers into the document (RFC 6901); none contains itself.
 *
 * @throws Error for a reference to nothing
 */
export function dereference(document: unknown): unknown {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (!isRecord(value)) return value
    const { $ref } = value
    if (typeof $ref === 'string') return copy(resolve(document, $ref))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]))
  }
  return copy(document)
}

function resolve(document: unknown, reference: string): unknown {
  const [, ...keys] = reference.split('/')
  return keys.reduce((value, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(value) || !(name in value)) throw new Error(`${reference} leads nowhere`)
    return value[name]
  }, document)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
