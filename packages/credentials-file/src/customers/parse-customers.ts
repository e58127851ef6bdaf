import {
  type Advice,
  advice,
  adviceOf,
  nameProblem,
  parseByteSize,
  closestWord,
} from '@holdfast/core'
import { parseScryptHash } from '@holdfast/passwords'
import { programName, headerProblem } from '../messages/describe-denial.ts'
import { CustomersFileError, type CustomersFileProblem } from './customers-file-error.ts'
import { type CustomerData, type CustomersData, customerFields } from './customers-schema.ts'
import { validate, type ShapeError } from './customers-validator.ts'
import { parseYaml, type YamlDocument, type DataPath } from './customers-text.ts'

/** A customer of the file, with every field validated. */
export interface CustomerEntry {
  readonly name: string
  /** The text in the file: a PHC string of scrypt, or plain text; see `isHash`. */
  readonly password: string
  /** In bytes. */
  readonly quota?: number
  readonly maxFiles?: number
}

export interface ParsedCustomers {
  readonly yaml: YamlDocument
  /** In the order of the file. */
  readonly entries: readonly CustomerEntry[]
}

/** Whether a password of the file is a hash and not plain text. */
export function isHash(password: string): boolean {
  return password.startsWith('$scrypt$')
}

/**
 * Parses and checks a whole customers file: if any customer is wrong, the whole file is refused.
 *
 * @throws CustomersFileError with all mistakes.
 */
export function parseCustomers(text: string, path: string): ParsedCustomers {
  const yaml = parseYaml(text, path)
  if (yaml.data === null || yaml.data === undefined) {
    const remedy = `add a customer with "${programName()} customers add NAME", or write "customers: []" for none`
    throw new CustomersFileError(path, [advice('is empty', remedy)])
  }
  const shape = checkShape(yaml.data)
  const written = customersIn(yaml.data)
  const problems = [
    ...('errors' in shape ? shapeProblems(shape.errors, yaml) : []),
    ...written.flatMap((customer, index) => customerProblems(customer, index, yaml)),
    ...duplicateProblems(written, yaml),
  ]
  if ('errors' in shape || problems.length > 0)
    throw new CustomersFileError(path, inOrder(problems))
  return { yaml, entries: shape.data.customers.map(toEntry) }
}

/**
 * What is wrong with a password of the file, as the end of a sentence that does not show the password; `undefined` if nothing is.
 */
export function passwordProblem(password: string): string | undefined {
  if (isHash(password)) return adviceFrom(() => parseScryptHash(password))?.problem
  // As plain text, a bcrypt hash would become a password that every reader of the file knows.
  if (/^\$[a-z0-9-]{1,32}\$/i.test(password)) return 'is a hash of a kind that is not known here'
  return headerProblem(password)
}

/** A customer as it is written, with only those fields that should be text and are text. */
type WrittenCustomer = Partial<Record<(typeof textFields)[number], string>>

const textFields = ['name', 'password', 'quota'] as const

/** The customers in `data`, in their order, even if other parts of `data` are wrong. */
function customersIn(data: unknown): readonly WrittenCustomer[] {
  const list: unknown = isObject(data) ? Reflect.get(data, 'customers') : undefined
  return Array.isArray(list) ? list.map(textsIn) : []
}

function textsIn(customer: unknown): WrittenCustomer {
  const fields = isObject(customer) ? Object.entries(customer) : []
  return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string'))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function customerProblems(
  { name, password, quota }: WrittenCustomer,
  index: number,
  yaml: YamlDocument,
): CustomersFileProblem[] {
  const ofName = name === undefined ? undefined : nameProblem(name)
  // For an empty password the schema has an error already.
  const ofPassword = password ? passwordProblem(password) : undefined
  const said = {
    name: ofName && advice(`cannot be a customer's name: ${ofName}`, 'choose another'),
    password: ofPassword && advice(ofPassword, anewRemedy()),
    quota: quota === undefined ? undefined : adviceFrom(() => parseByteSize(quota)),
  }
  return textFields.flatMap((field) => {
    const problem = said[field]
    return problem ? [problemAt(yaml, index, field, problem)] : []
  })
}

function duplicateProblems(
  customers: readonly WrittenCustomer[],
  yaml: YamlDocument,
): CustomersFileProblem[] {
  const firsts = new Map<string, number>()
  return customers.flatMap(({ name }, index) => {
    if (name === undefined) return []
    const first = firsts.get(name)
    if (first === undefined) {
      firsts.set(name, index)
      return []
    }
    const line = yaml.lineOf(['customers', first, 'name'])
    const problem = `customer ${JSON.stringify(name)} is there already, on line ${line}`
    return [problemAt(yaml, index, 'name', advice(problem, 'remove one of the two'))]
  })
}

function problemAt(yaml: YamlDocument, index: number, field: string, said: Advice) {
  const path = ['customers', index, field]
  return { line: yaml.lineOf(path), field: fieldName(path), ...said }
}

function toEntry({ quota, ...entry }: CustomerData): CustomerEntry {
  if (quota === undefined) return entry
  return { ...entry, quota: typeof quota === 'string' ? parseByteSize(quota) : quota }
}

/** The advice of the error that `parse` throws; `undefined` if it throws none. */
function adviceFrom(parse: () => unknown): Advice | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return adviceOf(error)
    throw error
  }
}

function inOrder(problems: readonly CustomersFileProblem[]): CustomersFileProblem[] {
  return problems.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
}

/** Checks the shape of `data`: returns the typed data, or the errors. */
function checkShape(
  data: unknown,
): { readonly data: CustomersData } | { readonly errors: readonly ShapeError[] } {
  return validate(data) ? { data: data as CustomersData } : { errors: validate.errors ?? [] }
}

/** The remedy for a wrong password: the commands do not edit a file with any mistake in it. */
const anewRemedy = () =>
  `remove this customer here, then make it anew with "${programName()} customers add NAME"`

/** The messages and lines for the errors of the schema. */
function shapeProblems(errors: readonly ShapeError[], yaml: YamlDocument): CustomersFileProblem[] {
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
function fieldName(path: DataPath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}

/** The steps of a JSON pointer (RFC 6901). The schema has no names of digits, so digits are indexes. */
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
  // The message has the line and not the field: if "password:" is missing before a password, that would appear in the log.
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
