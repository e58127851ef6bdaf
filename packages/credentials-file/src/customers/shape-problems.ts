import { advice, type Advice, closestWord } from '@holdfast/core'
import { programName } from '../messages/program-name.ts'
import type { CustomersFileProblem } from './customers-file-error.ts'
import { customerFields } from './customers-schema.ts'
import type { ShapeError } from './customers-validator.ts'
import type { DataPath, YamlDocument } from './yaml-document.ts'

/** What helps where a password is no good: the commands refuse to edit a file that has anything wrong in it. */
export const anewRemedy = () =>
  `remove this customer here, then make it anew with "${programName()} customers add NAME"`

/** Words and lines for what the schema found wrong. */
export function shapeProblems(
  errors: readonly ShapeError[],
  yaml: YamlDocument,
): CustomersFileProblem[] {
  return errors.map((error) => {
    const path = pathOf(error.instancePath)
    const key = unknownKey(error)
    return {
      line: yaml.lineOf(path, key),
      field: path.length > 0 ? fieldName(path) : undefined,
      ...describe(error, path),
    }
  })
}

/** `customers[2].password` */
export function fieldName(path: DataPath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

/** A JSON pointer's steps (RFC 6901); the schema has no names made of digits, so digits are indexes. */
function pathOf(pointer: string): DataPath {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}

function unknownKey({ keyword, params }: ShapeError): string | undefined {
  return keyword === 'additionalProperties' ? String(params['additionalProperty']) : undefined
}

const leaveOut = 'leave the field out for no limit'

function describe(error: ShapeError, path: DataPath): Advice {
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(unknownKey(error) ?? '', path)
    case 'required':
      return missingField(String(error.params['missingProperty']))
    case 'minLength':
      return advice('is empty', anewRemedy())
    case 'minimum':
      return advice('is negative', leaveOut)
    case 'maximum':
      return advice('is a larger size than can be counted', leaveOut)
    default:
      return wrongType(error.data, path)
  }
}

function unknownField(key: string, path: DataPath): Advice {
  const known = path.length > 0 ? customerFields : ['customers']
  const meant = closestWord(key, known)
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`
  // The message gives the line and not the field: a password whose "password:" is missing would appear in the log.
  return advice('has a field that is not known', hint)
}

function missingField(field: string): Advice {
  switch (field) {
    case 'customers':
      return advice(
        'has no field "customers"',
        'write "customers:" and below it one "- name: …" for each customer',
      )
    case 'password':
      return advice('has no password', anewRemedy())
    default:
      return advice(`has no ${field}`, `add "${field}: …"`)
  }
}

function wrongType(value: unknown, path: DataPath): Advice {
  const found = kindOf(value)
  switch (path.at(-1)) {
    case undefined:
      return advice(`is ${found} where "customers:" was expected`)
    case 'customers':
      return advice(
        `is ${found} where a list was expected`,
        'write "- name: …" for each customer, or [] for none',
      )
    case 'quota':
      return advice(
        `is ${found}`,
        'write whole bytes as in 1048576, or a unit as in 50GB or 10 MiB',
      )
    case 'maxFiles':
      return advice(`is ${found}`, 'write a whole number, without quotes, as in 10000')
    case 'name':
    case 'password':
      return value === null
        ? advice('is empty', 'give it a value, in quotes if it is to be read as text')
        : advice(`is ${found}, not text`, 'put it in quotes')
    default:
      return advice(
        `is ${found} where a customer was expected`,
        'write "- name: …" and below it "password: …"',
      )
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'boolean') return 'true or false'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a text' : 'a number'
}
