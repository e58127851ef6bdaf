import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repository } from '../machine.ts'

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
