import type { Description, Schema } from '../../packages/testing/src/api-description/judge.ts'
import { formatText } from '../format/format-text.ts'

/** What the client makes of the API's description: types of what it sends and gets, and the codes of errors. */
export function renderClientApi(description: Description, file: string): Promise<string> {
  const { schemas } = description.components
  const interfaces = [
    'FileDetails',
    'FileVersion',
    'DeletedFile',
    'LinkRequest',
    'Link',
    'Usage',
  ].map(
    (name) =>
      `${comment(schemas[name])}export interface ${name} ${typeOf(schemas[name] ?? missing(name))}\n`,
  )
  const problems = Object.entries(schemas).flatMap(([code, schema]) => problemOf(code, schema))
  const text = `${head}${interfaces.join('\n')}\n${tableOf(problems)}`
  return formatText(file, text)
}

const head = '// Written by scripts/write-client-api.ts from docs/openapi.yaml; edit that.\n\n'

interface Problem {
  readonly code: string
  readonly status: number
  /** A regular expression that its messages match, and later ones of its kind. */
  readonly message: string
}

function tableOf(problems: readonly Problem[]): string {
  const rows = problems.map(
    ({ code, status, message }) =>
      `${JSON.stringify(code)}: { status: ${status}, message: ${JSON.stringify(message)} },`,
  )
  return `/** The errors of the API: their status, and what their messages match. */
export const problems = { ${rows.join('\n')} } as const satisfies Readonly<
  Record<string, { readonly status: number; readonly message: string }>
>

/** The name of an error's schema in the description. */
export type ProblemCode = keyof typeof problems
`
}

/** Empty where the schema is no error. */
function problemOf(code: string, schema: Schema): readonly Problem[] {
  const { allOf, properties } = fieldsOf(schema)
  const [base] = (allOf ?? []) as readonly Schema[]
  const { message } = (properties ?? {}) as Record<string, Schema>
  if (base === undefined || message === undefined) return []
  const { properties: inherited } = fieldsOf(base)
  const { statusCode } = (inherited ?? {}) as Record<string, Schema>
  const status = Number(fieldsOf(statusCode ?? missing(code))['const'])
  return [{ code, status, message: patternOf(fieldsOf(message)) }]
}

/** A text that ends in a reason after a colon matches with other reasons, too: later versions add some. */
function patternOf(message: Readonly<Record<string, unknown>>): string {
  if (typeof message['pattern'] === 'string') return message['pattern']
  const texts = ('const' in message ? [message['const']] : message['enum']) as readonly string[]
  const patterns = texts.map((text) => {
    const kind = /^Invalid [^:]+: /.exec(text)?.[0]
    return kind === undefined ? `${escaped(text)}$` : escaped(kind)
  })
  return `^(${[...new Set(patterns)].join('|')})`
}

const escaped = (text: string) => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')

function typeOf(schema: Schema): string {
  const { type, properties, required, oneOf, ...rest } = fieldsOf(schema)
  if (oneOf !== undefined) return (oneOf as readonly Schema[]).map(typeOf).join(' | ')
  if ('const' in rest) return JSON.stringify(rest['const'])
  if (Array.isArray(rest['enum']))
    return rest['enum'].map((value) => JSON.stringify(value)).join(' | ')
  if (type === 'object') {
    const isRequired = new Set(required as readonly string[] | undefined)
    const fields = Object.entries((properties ?? {}) as Record<string, Schema>).map(
      ([name, field]) =>
        `${comment(field)}readonly ${name}${isRequired.has(name) ? '' : '?'}: ${typeOf(field)}\n`,
    )
    return `{\n${fields.join('')}}`
  }
  if (type === 'array') return `readonly (${typeOf((rest['items'] ?? true) as Schema)})[]`
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string' || type === 'boolean') return type
  throw new Error(`No type for ${JSON.stringify(schema)}`)
}

function comment(schema: Schema | undefined): string {
  const { description } = fieldsOf(schema ?? false)
  if (typeof description !== 'string') return ''
  return `/** ${description.trim().replaceAll(/\s*\n\s*/g, ' ')} */\n`
}

function fieldsOf(schema: Schema): Readonly<Record<string, unknown>> {
  return typeof schema === 'boolean' ? {} : schema
}

function missing(name: string): never {
  throw new Error(`docs/openapi.yaml has no schema ${name}`)
}
