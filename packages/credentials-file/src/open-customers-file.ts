import { isDeepStrictEqual } from 'node:util'
import { open, realpath, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { advice, closestWord, nameProblem, splitLoginName } from '@holdfast/core'
import { isMap, isScalar, isSeq, type Document, type YAMLMap, type YAMLSeq } from 'yaml'
import { CustomersFileError, OutdatedEditError } from './customers/customers-file-error.ts'
import {
  changeFields,
  readFields,
  type ChangedCustomerFields,
  type NewCustomerFields,
} from './customers/customer-fields.ts'
import {
  isHash,
  loginNamesOf,
  parseCustomers,
  passwordProblem,
  type CustomerEntry,
  type LoginEntry,
} from './customers/parse-customers.ts'
import {
  isMissingFile,
  readCustomersText,
  saveCustomersText,
  unwritable,
  parseYaml,
} from './customers/customers-text.ts'

/**
 * A customers file that is edited in memory; only `save` writes it. Comments, order and everything else that was not edited stay
 * unchanged. Every method throws a {@link CustomersFileError}, whose message is for a person. A `name` is that of a customer, or
 * `CUSTOMER/LOGIN` for a further login.
 */
export interface CustomersFile {
  /** The customers' names, in the order of the file. */
  names(): readonly string[]
  /** The names of all customers and of their further logins, in the order of the file. */
  loginNames(): readonly string[]
  has(name: string): boolean
  /**
   * Adds a customer at the end, or a login to its customer. Throws if the name is taken or the customer missing, and for an invalid name,
   * hash, limit, right or date, an end that is past, or a field that does not fit.
   */
  add(name: string, passwordHash: string, fields?: NewCustomerFields): void
  /**
   * Changes the fields that are given, and removes those that are `null`. Throws if nothing has the name, and for what `add` refuses.
   */
  set(name: string, fields: ChangedCustomerFields): void
  /** Removes a customer with all logins, or a login. Throws if nothing has the name. */
  remove(name: string): void
  /** Sets another password. Throws if nothing has the name, or `passwordHash` is not a scrypt hash. */
  setPasswordHash(name: string, passwordHash: string): void
  /**
   * Writes the file in one step. Only its owner can access a new file; an existing file keeps its owner, its group and the group's
   * permissions, and others have none. Rejects if the file has changed since it was opened: concurrent saves never overwrite each
   * other.
   */
  save(): Promise<void>
}

/**
 * Opens a customers file for editing. A missing or empty file counts as one without customers, and `save` creates it.
 *
 * @throws CustomersFileError for a file with any mistake in it: correct that by hand first.
 */
export async function openCustomersFile(path: string): Promise<CustomersFile> {
  let original = await readIfThere(path)
  const { document, entries: found } = parseForEditing(original ?? '', path)
  let entries = found

  const refuse = (problem: string, ...remedies: readonly string[]) =>
    new CustomersFileError(path, [advice(problem, ...remedies)])
  const unknown = (name: string) => {
    const { name: customer, login } = splitLoginName(name)
    const isKnown = login !== undefined && entries.some((entry) => entry.name === customer)
    const meant = closestWord(isKnown ? name : customer, loginNamesOf(entries))
    const aboutSlash =
      login === undefined ? [] : ['CUSTOMER/LOGIN is a further login of a customer']
    const hints = meant === undefined ? aboutSlash : [`did you mean ${JSON.stringify(meant)}?`]
    const what = isKnown ? `login ${JSON.stringify(name)}` : `customer ${JSON.stringify(customer)}`
    return refuse(`has no ${what}`, ...hints)
  }
  /** Where the customer of `name` is in the document. */
  const pathToCustomer = (name: string): readonly [string, number] => {
    const { name: customer } = splitLoginName(name)
    const index = entries.findIndex((entry) => entry.name === customer)
    if (index < 0) throw unknown(name)
    return ['customers', index]
  }
  /** Where the entry of `name` is in the document. */
  const pathTo = (name: string): readonly (string | number)[] => {
    const { login } = splitLoginName(name)
    const path = pathToCustomer(name)
    if (login === undefined) return path
    const at = entries[path[1]]?.logins?.findIndex((entry) => entry.name === login) ?? -1
    if (at < 0) throw unknown(name)
    return [...path, 'logins', at]
  }
  const nodeAt = (path: readonly (string | number)[]): YAMLMap => {
    const node = document.getIn(path, true)
    if (isMap(node)) return node
    throw refuse('uses a YAML alias for this customer', byHand)
  }
  /** The list at `path`, to which an entry is added. */
  const listAt = (path: readonly (string | number)[]): YAMLSeq => {
    if (!document.hasIn(path)) document.setIn(path, document.createNode([]))
    const list = document.getIn(path, true)
    if (!isSeq(list)) throw refuse('uses a YAML alias for the customers', byHand)
    // An empty list is written as [], and with `flow` the new entry would stay on its line.
    if (list.items.length === 0) list.flow = false
    return list
  }
  const checkHash = (passwordHash: string) => {
    const problem = isHash(passwordHash)
      ? passwordProblem(passwordHash)
      : 'is not a scrypt hash, and nothing else may be written here'
    if (problem !== undefined) throw refuse(`the new password ${problem}`)
  }

  return {
    names: () => entries.map(({ name }) => name),
    loginNames: () => loginNamesOf(entries),
    has: (name) => loginNamesOf(entries).includes(name),
    add(name, passwordHash, fields = {}) {
      const { name: customer, login } = splitLoginName(name)
      const kind = login === undefined ? 'customer' : 'login'
      const ownName = login ?? customer
      const problem = nameProblem(ownName)
      if (problem !== undefined) throw refuse(`no ${kind} can have this name: ${problem}`)
      const path = login === undefined ? ['customers'] : [...pathToCustomer(name), 'logins']
      if (loginNamesOf(entries).includes(name)) {
        throw refuse(`has a ${kind} ${JSON.stringify(name)} already`)
      }
      checkHash(passwordHash)
      const { written, changed } = readFields(kind, fields, refuse)
      const list = listAt(path)
      list.add(document.createNode({ name: ownName, password: passwordHash, ...written }))
      entries = changeEntry(entries, name, (named) => ({
        ...named,
        password: passwordHash,
        ...changed,
      }))
    },
    set(name, fields) {
      const path = pathTo(name)
      const kind = splitLoginName(name).login === undefined ? 'customer' : 'login'
      const read = readFields(kind, fields, refuse)
      const node = nodeAt(path)
      for (const [field, value] of Object.entries(read.written)) {
        node.set(field, document.createNode(value))
      }
      for (const field of read.removed) node.delete(field)
      entries = changeEntry(entries, name, (entry) => changeFields(entry, read))
    },
    remove(name) {
      const path = pathTo(name)
      const listPath = path.slice(0, -1)
      const { items } = listAt(listPath)
      document.deleteIn(path)
      if (path.includes('logins') && items.length === 0) document.deleteIn(listPath)
      entries = changeEntry(entries, name, () => undefined)
    },
    setPasswordHash(name, passwordHash) {
      const path = pathTo(name)
      checkHash(passwordHash)
      replaceValue(document, nodeAt(path), passwordHash)
      entries = changeEntry(entries, name, (entry) => ({ ...entry, password: passwordHash }))
    },
    async save() {
      const text = renderCustomers({ document, entries, original: original ?? '', path })
      await withLock(path, async () => {
        if ((await readIfThere(path)) !== original) throw new OutdatedEditError(path)
        await saveCustomersText(path, text)
      })
      original = text
    },
  }
}

const byHand = 'edit the file by hand'

function parseForEditing(text: string, path: string) {
  const { document, data } = parseYaml(text, path)
  if (data !== null) return { document, entries: parseCustomers(text, path).entries }
  document.contents = document.createNode({ customers: [] })
  const entries: readonly CustomerEntry[] = []
  return { document, entries }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await readCustomersText(path)).text
  } catch (error) {
    if (isMissingFile(error)) return undefined
    throw error
  }
}

/** Sets the password by a new node: the old node may have an anchor to which other customers refer. */
function replaceValue(document: Document, customer: YAMLMap, passwordHash: string): void {
  const old = customer.get('password', true)
  const node = document.createNode(passwordHash)
  if (isScalar(old)) node.comment = old.comment ?? null
  customer.set('password', node)
}

/** What `change` makes of an entry, or of the name of a new one; `undefined` removes the entry. */
type ChangeEntry = (entry: Partial<LoginEntry> & Pick<LoginEntry, 'name'>) => LoginEntry | undefined

/** `entries` after a change of the customer or login called `name`, which is added at the end if there is none. */
function changeEntry(
  entries: readonly CustomerEntry[],
  name: string,
  change: ChangeEntry,
): readonly CustomerEntry[] {
  const { name: customer, login } = splitLoginName(name)
  if (login === undefined) return changeNamed(entries, customer, change)
  return entries.map((entry) => {
    if (entry.name !== customer) return entry
    const { logins: before = [], ...rest } = entry
    const logins = changeNamed(before, login, change)
    return { ...rest, ...(logins.length > 0 && { logins }) }
  })
}

function changeNamed<Entry extends LoginEntry>(
  siblings: readonly Entry[],
  name: string,
  change: ChangeEntry,
): readonly Entry[] {
  const index = siblings.findIndex((entry) => entry.name === name)
  const next = change(siblings[index] ?? { name })
  const replacement = next === undefined ? [] : [next as Entry]
  return index < 0 ? [...siblings, ...replacement] : siblings.toSpliced(index, 1, ...replacement)
}

interface RenderInput {
  readonly document: Document
  /** The customers that the text must have when it is read again. */
  readonly entries: readonly CustomerEntry[]
  /** The text that was edited: JSON stays JSON, with its indentation. */
  readonly original: string
  readonly path: string
}

/**
 * The text of an edited customers file.
 *
 * @throws CustomersFileError when the text, read again, would not have exactly these customers, for example because customers
 *   share values by aliases.
 */
function renderCustomers({ document, entries, original, path }: RenderInput): string {
  const text = render(document, original)
  if (text === undefined || !isDeepStrictEqual(readBack(text, path), entries)) {
    const problem = 'cannot be edited without changing other customers (does it use YAML aliases?)'
    throw new CustomersFileError(path, [advice(problem, 'edit it by hand')])
  }
  return text
}

function render(document: Document, original: string): string | undefined {
  try {
    if (!isJson(original)) {
      const text = document.toString({ lineWidth: 0 })
      return original.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
    }
    const indent = /\n([ \t]+)/.exec(original)?.[1]
    return `${JSON.stringify(document.toJS(), undefined, indent ?? 2)}\n`
  } catch {
    // The edit has removed the anchor of an alias.
    return undefined
  }
}

function readBack(text: string, path: string): readonly CustomerEntry[] | undefined {
  try {
    return parseCustomers(text, path).entries
  } catch {
    return undefined
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Locks are held for some milliseconds. An older lock than this, in milliseconds, belongs to a process that was killed. */
const staleMs = 10_000
const retryMs = 10

/**
 * Runs `work` under an exclusive lock for the file at `path`. The lock also excludes other processes, and other machines that share
 * the directory. It is a file beside `path` (`customers.yaml.lock`), which is removed afterwards. A lock that a crash has left is
 * removed after ten seconds; if two callers do so at the same instant, both may get the lock.
 *
 * @throws CustomersFileError if the lock cannot be made
 */
async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${await target(path)}.lock`
  while (!(await take(lock, path))) await delay(retryMs)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

/** Resolves links, so that all paths to one file have the same lock. */
async function target(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

async function take(lock: string, path: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unlockable(error, path)
    if (await isStale(lock)) await rm(lock, { force: true })
    return false
  }
}

async function isStale(lock: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(lock)).mtimeMs > staleMs
  } catch {
    return false
  }
}

function unlockable(error: unknown, path: string): CustomersFileError {
  return new CustomersFileError(path, [unwritable(error)], error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** How often an edit is retried: administrators start fewer edits at the same time by hand. */
const maxAttempts = 100

/**
 * Opens the customers file at `path`, calls `change`, and saves. If another edit was saved meanwhile, it retries with the new file,
 * so that concurrent edits all succeed; `change` may be called several times, and must only change its argument.
 *
 * @throws CustomersFileError as {@link openCustomersFile} does, and all that `change` throws; then nothing is written.
 */
export async function editCustomersFile(
  path: string,
  change: (file: CustomersFile) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const file = await openCustomersFile(path)
    change(file)
    try {
      return await file.save()
    } catch (error) {
      if (!(error instanceof OutdatedEditError) || attempt === maxAttempts) throw error
    }
  }
}
