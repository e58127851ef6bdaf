import { Ajv, type Options } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'

/** How a customers file is judged: everything that is wrong with it, and with what value. */
export const validatorOptions: Options = {
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  verbose: true,
}

/**
 * TypeScript that judges data by `schema`, as ajv does at run time with {@link validatorOptions}, but imports nothing: to load ajv
 * and to compile a schema takes a tenth of the time in which the server starts.
 */
export function renderValidator(schema: object): string {
  const code = { source: true, esm: true, lines: true }
  // Without `unicode` the length in code points would be taken from a module of ajv; 0 and 1 are the same in code units.
  // oxlint-disable-next-line typescript/no-deprecated -- no other option has this effect
  const ajv = new Ajv({ ...validatorOptions, unicode: false, logger: false, code })
  const made = standalone.default(ajv, ajv.compile(schema))
  const functionsOnly = made.replace('"use strict";\n', '').replace(/^export .*\n/gm, '')
  const [, name = ''] = /^export const validate = (\w+);$/m.exec(made) ?? []
  return `${head}${functionsOnly.trim()}\n\nexport const validate: Validate = ${name}\n${foot}`
}

const head = `// @ts-nocheck Written by scripts/build-packages.ts; edit the schema, not this file.
/* c8 ignore start */

/** What is wrong at one place of the data, as ajv says it. */
export interface ShapeError {
  /** A JSON pointer (RFC 6901) into the data. */
  readonly instancePath: string
  /** Of JSON Schema. */
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  /** What stands there. */
  readonly data?: unknown
}

interface Validate {
  (data: unknown): boolean
  /** Of the last call; \`null\` if nothing was wrong. */
  readonly errors?: readonly ShapeError[] | null
}

`

const foot = '/* c8 ignore stop */\n'
