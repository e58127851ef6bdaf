import {
  type Advice,
  advice,
  adviceOf,
  nameProblem,
  parseByteSize,
  parseKeepReplaced,
  closestWord,
  loginName,
  rights,
  type Right,
} from '@holdfast/core'
import { parseScryptHash } from '@holdfast/passwords'
import {
  programName,
  headerProblem,
  parseReceiver,
  parseWebhookSecrets,
  type CustomerWebhook,
} from '../messages.ts'
import { CustomersFileError, type CustomersFileProblem } from './customers-file-error.ts'
import {
  type CustomerData,
  type CustomersData,
  customerFields,
  type LoginData,
  loginFields,
} from './customers-schema.ts'
import { validate, type ShapeError } from './customers-validator.ts'
import { dateRemedy, parseExpireAfter, parseRights, parseUntil } from './customer-terms.ts'
import { parseYaml, type YamlDocument, type DataPath } from './customers-text.ts'

/** A customer of the file, with every field validated. */
export interface CustomerEntry {
  readonly name: string
  /** The text in the file: a PHC string of scrypt, or plain text; see `isHash`. */
  readonly password: string
  /** In bytes. */
  readonly quota?: number
  readonly maxFiles?: number
  /** How long after their last change files expire, in milliseconds. Default: never. */
  readonly expireAfterMs?: number
  /** How long what is replaced or deleted is kept, in milliseconds; 0 for not at all. Default: as the service says. */
  readonly keepReplacedMs?: number
  /** Where the customer's own events go. Default: nowhere. */
  readonly webhook?: CustomerWebhook
  /** What the customer's own login may do. Default: everything. */
  readonly may?: readonly Right[]
  readonly logins?: readonly LoginEntry[]
}

/** A further login of a customer, with every field validated. */
export interface LoginEntry {
  readonly name: string
  readonly password: string
  /** Default: everything. */
  readonly may?: readonly Right[]
  /** From when it is refused, in milliseconds since 1970. */
  readonly endsAtMs?: number
}

export interface ParsedCustomers {
  readonly yaml: YamlDocument
  /** In the order of the file. */
  readonly entries: readonly CustomerEntry[]
}

/** The names of all logins: each customer's own, and the further ones as `CUSTOMER/LOGIN`. */
export function loginNamesOf(entries: readonly CustomerEntry[]): readonly string[] {
  return entries.flatMap(({ name, logins = [] }) => [
    name,
    ...logins.map((login) => loginName({ name, login: login.name })),
  ])
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
  const customers = entriesAt(['customers'], yaml.data)
  const loginsOfEach = customers.map((customer) =>
    entriesAt([...customer.path, 'logins'], customer.data),
  )
  const problems = [
    ...('errors' in shape ? shapeProblems(shape.errors, yaml) : []),
    ...[...customers, ...loginsOfEach.flat()].flatMap((entry) => entryProblems(entry, yaml)),
    ...[customers, ...loginsOfEach].flatMap((siblings) => duplicateProblems(siblings, yaml)),
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

/** A customer or login as it is written, even if other parts of the file are wrong. */
interface WrittenEntry {
  readonly path: DataPath
  readonly kind: 'customer' | 'login'
  readonly data: unknown
}

/** The entries of the list at `path`, whose last step is a member of `parent`. */
function entriesAt(path: DataPath, parent: unknown): readonly WrittenEntry[] {
  const list = memberOf(parent, path.at(-1))
  const kind = path.at(-1) === 'logins' ? 'login' : 'customer'
  if (!Array.isArray(list)) return []
  return list.map((data: unknown, index) => ({ path: [...path, index], kind, data }))
}

function memberOf(value: unknown, name: string | number | undefined): unknown {
  const isObject = typeof value === 'object' && value !== null
  return isObject && name !== undefined ? Reflect.get(value, name) : undefined
}

/** What is wrong with the texts of an entry. The schema has an error already for what is no text, and for an empty password. */
function entryProblems(entry: WrittenEntry, yaml: YamlDocument): CustomersFileProblem[] {
  const { kind, data } = entry
  const textOf = (field: string) => {
    const value = memberOf(data, field)
    return typeof value === 'string' ? value : undefined
  }
  const [name, password, quota] = [textOf('name'), textOf('password'), textOf('quota')]
  const may = memberOf(data, 'may')
  const until = kind === 'login' ? textOf('until') : undefined
  const ofCustomer = (field: string) => (kind === 'customer' ? textOf(field) : undefined)
  const [expireAfter, keepReplaced] = [ofCustomer('expireAfter'), ofCustomer('keepReplaced')]
  const [webhook, webhookSecret] = [ofCustomer('webhook'), ofCustomer('webhookSecret')]
  const ofName = name === undefined ? undefined : nameProblem(name)
  const ofPassword = password ? passwordProblem(password) : undefined
  const said: Readonly<Record<string, Advice | undefined>> = {
    name:
      ofName === undefined
        ? undefined
        : advice(`cannot be a ${kind}'s name: ${ofName}`, 'choose another'),
    password: ofPassword === undefined ? undefined : advice(ofPassword, anewRemedy(kind)),
    quota: quota === undefined ? undefined : adviceFrom(() => parseByteSize(quota)),
    expireAfter:
      expireAfter === undefined ? undefined : adviceFrom(() => parseExpireAfter(expireAfter)),
    keepReplaced:
      keepReplaced === undefined ? undefined : adviceFrom(() => parseKeepReplaced(keepReplaced)),
    webhook: webhook === undefined ? undefined : adviceFrom(() => parseReceiver(webhook)),
    webhookSecret:
      webhookSecret === undefined
        ? undefined
        : adviceFrom(() => parseWebhookSecrets(webhookSecret)),
    may: isRights(may) ? adviceFrom(() => parseRights(may)) : undefined,
    until: until === undefined ? undefined : adviceFrom(() => parseUntil(until)),
  }
  return Object.entries(said).flatMap(([field, problem]) =>
    problem ? [problemAt(yaml, entry, field, problem)] : [],
  )
}

function isRights(value: unknown): value is string | readonly string[] {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && value.every((right) => typeof right === 'string'))
  )
}

function duplicateProblems(
  siblings: readonly WrittenEntry[],
  yaml: YamlDocument,
): CustomersFileProblem[] {
  const firsts = new Map<string, WrittenEntry>()
  return siblings.flatMap((entry) => {
    const name = memberOf(entry.data, 'name')
    if (typeof name !== 'string') return []
    const first = firsts.get(name)
    if (first === undefined) {
      firsts.set(name, entry)
      return []
    }
    const line = yaml.lineOf([...first.path, 'name'])
    const problem = `${entry.kind} ${JSON.stringify(name)} is there already, on line ${line}`
    return [problemAt(yaml, entry, 'name', advice(problem, 'remove one of the two'))]
  })
}

function problemAt(yaml: YamlDocument, entry: WrittenEntry, field: string, said: Advice) {
  const path = [...entry.path, field]
  return { line: yaml.lineOf(path), field: fieldName(path), ...said }
}

function toEntry({
  quota,
  may,
  logins,
  expireAfter,
  keepReplaced,
  webhook,
  webhookSecret,
  ...entry
}: CustomerData): CustomerEntry {
  return {
    ...entry,
    ...(quota !== undefined && { quota: typeof quota === 'string' ? parseByteSize(quota) : quota }),
    ...(expireAfter !== undefined && { expireAfterMs: parseExpireAfter(expireAfter) }),
    ...(keepReplaced !== undefined && { keepReplacedMs: parseKeepReplaced(keepReplaced) }),
    ...(webhook !== undefined &&
      webhookSecret !== undefined && { webhook: toWebhook(webhook, webhookSecret) }),
    ...rightsOf(may),
    ...(logins !== undefined && { logins: logins.map(toLogin) }),
  }
}

export function toWebhook(url: string, secret: string): CustomerWebhook {
  return { url: parseReceiver(url), secrets: parseWebhookSecrets(secret) }
}

function toLogin({ may, until, ...entry }: LoginData): LoginEntry {
  return {
    ...entry,
    ...rightsOf(may),
    ...(until !== undefined && { endsAtMs: parseUntil(until) }),
  }
}

function rightsOf(may: string | readonly string[] | undefined): Pick<LoginEntry, 'may'> {
  const parsed = may === undefined ? undefined : parseRights(may)
  return parsed === undefined ? {} : { may: parsed }
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
function anewRemedy(kind: WrittenEntry['kind']): string {
  const name = kind === 'login' ? 'NAME --login LOGIN' : 'NAME'
  return `remove this ${kind} here, then make it anew with "${programName()} customers add ${name}"`
}

/** Whether `path` is that of a login or of a field of one. */
function kindAt(path: DataPath): WrittenEntry['kind'] {
  return path.includes('logins') && path.length > 3 ? 'login' : 'customer'
}

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
    case 'dependencies':
      return missingField(String(error.params['missingProperty']), kindAt(path))
    case 'minLength':
      return advice('is empty', anewRemedy(kindAt(path)))
    case 'minimum':
      return advice('is negative', leaveOut)
    case 'maximum':
      return advice('is a larger size than can be counted', leaveOut)
    default:
      return wrongType(error.data, path)
  }
}

const fieldsOf = { customer: customerFields, login: loginFields }

function unknownField(key: string, path: DataPath): Advice {
  const known = path.length === 0 ? ['customers'] : fieldsOf[kindAt(path)]
  const meant = closestWord(key, known)
  const hint = meant === undefined ? `known: ${known.join(', ')}` : `did you mean "${meant}"?`
  // The message has the line and not the field: if "password:" is missing before a password, that would appear in the log.
  return advice('has a field that is not known', hint)
}

function missingField(field: string, kind: WrittenEntry['kind']): Advice {
  switch (field) {
    case 'customers':
      return advice(
        'has no field "customers"',
        'write "customers:" and below it one "- name: …" for each customer',
      )
    case 'password':
      return advice('has no password', anewRemedy(kind))
    case 'webhookSecret':
      return advice(
        'has a webhook and no webhookSecret to sign its events',
        `make one with "${programName()} customers set NAME --webhook URL"`,
      )
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
    case 'logins':
      return advice(`is ${found} where a list was expected`, 'write "- name: …" for each login')
    case 'may':
      return advice(`is ${found}`, 'write a word such as read-only, or a list such as [list, read]')
    case 'until':
      return advice(`is ${found}, not a date`, `${dateRemedy}, or leave the field out for no end`)
    case 'name':
    case 'password':
    case 'expireAfter':
    case 'keepReplaced':
    case 'webhook':
    case 'webhookSecret':
      return value === null
        ? advice('is empty', 'give it a value, in quotes if it is to be read as text')
        : advice(`is ${found}, not text`, 'put it in quotes')
    default:
      if (path.at(-2) === 'may')
        return advice(`is ${found}, not a right`, `known: ${rights.join(', ')}`)
      return advice(
        `is ${found} where a ${kindAt(path)} was expected`,
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
