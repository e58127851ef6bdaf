import { type Advice, advice, adviceOf, nameProblem, parseByteSize } from '@holdfast/core'
import { parseScryptHash } from '@holdfast/passwords'
import { programName } from '../messages/program-name.ts'
import { CustomersFileError, type CustomersFileProblem } from './customers-file-error.ts'
import type { CustomerData, CustomersData } from './customers-schema.ts'
import { validate, type ShapeError } from './customers-validator.ts'
import { headerProblem } from '../messages/header-problem.ts'
import { anewRemedy, fieldName, shapeProblems } from './shape-problems.ts'
import { parseYaml, type YamlDocument } from './yaml-document.ts'

/** A customer of the file, with every field validated. */
export interface CustomerEntry {
  readonly name: string
  /** As it stands in the file: a PHC string of scrypt, or plain text; see `isHash`. */
  readonly password: string
  /** Bytes. */
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
 * Parses and judges a customers file, all of it: either every customer is right or none is taken.
 *
 * @throws CustomersFileError with everything that is wrong.
 */
export function parseCustomers(text: string, path: string): ParsedCustomers {
  const yaml = parseYaml(text, path)
  if (yaml.data === null || yaml.data === undefined) {
    const remedy = `add a customer with "${programName()} customers add NAME", or write "customers: []" for none`
    throw new CustomersFileError(path, [advice('is empty', remedy)])
  }
  const shape = checkShape(yaml.data)
  if ('errors' in shape)
    throw new CustomersFileError(path, inOrder(shapeProblems(shape.errors, yaml)))

  const { customers } = shape.data
  const problems = [
    ...customers.flatMap((customer, index) => customerProblems(customer, index, yaml)),
    ...duplicateProblems(customers, yaml),
  ]
  if (problems.length > 0) throw new CustomersFileError(path, inOrder(problems))
  return { yaml, entries: customers.map(toEntry) }
}

/**
 * What is wrong with a password of the file, as the end of a sentence that does not show it; `undefined` if nothing
 * is.
 */
export function passwordProblem(password: string): string | undefined {
  if (isHash(password)) return adviceFrom(() => parseScryptHash(password))?.problem
  // As plain text, a bcrypt hash would become a password that every reader of the file knows.
  if (/^\$[a-z0-9-]{1,32}\$/i.test(password)) return 'is a hash of a kind that is not known here'
  return headerProblem(password)
}

function customerProblems(
  { name, password, quota }: CustomerData,
  index: number,
  yaml: YamlDocument,
): CustomersFileProblem[] {
  const ofName = nameProblem(name)
  const ofPassword = passwordProblem(password)
  const said = {
    name: ofName && advice(`cannot be a customer's name: ${ofName}`, 'choose another'),
    password: ofPassword && advice(ofPassword, anewRemedy()),
    quota: typeof quota === 'string' ? adviceFrom(() => parseByteSize(quota)) : undefined,
  }
  return (['name', 'password', 'quota'] as const).flatMap((field) => {
    const problem = said[field]
    return problem ? [problemAt(yaml, index, field, problem)] : []
  })
}

function duplicateProblems(
  customers: readonly CustomerData[],
  yaml: YamlDocument,
): CustomersFileProblem[] {
  const firsts = new Map<string, number>()
  return customers.flatMap(({ name }, index) => {
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
  const place = ['customers', index, field]
  return { line: yaml.lineOf(place), field: fieldName(place), ...said }
}

function toEntry({ quota, ...entry }: CustomerData): CustomerEntry {
  if (quota === undefined) return entry
  return { ...entry, quota: typeof quota === 'string' ? parseByteSize(quota) : quota }
}

/** What is wrong with that which `parse` refuses; `undefined` where it refuses nothing. */
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

/** Judges the shape of `data`: the data typed, or what is wrong with it. */
function checkShape(
  data: unknown,
): { readonly data: CustomersData } | { readonly errors: readonly ShapeError[] } {
  return validate(data) ? { data: data as CustomersData } : { errors: validate.errors ?? [] }
}
