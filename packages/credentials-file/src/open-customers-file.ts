import { isDeepStrictEqual } from 'node:util'
import { open, realpath, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { advice, adviceOf, closestWord, nameProblem, parseByteSize } from '@holdfast/core'
import { isMap, isScalar, isSeq, type Document, type YAMLMap } from 'yaml'
import { CustomersFileError, OutdatedEditError } from './customers/customers-file-error.ts'
import {
  isHash,
  parseCustomers,
  passwordProblem,
  type CustomerEntry,
} from './customers/parse-customers.ts'
import {
  isMissingFile,
  readCustomersText,
  saveCustomersText,
  unwritable,
  parseYaml,
} from './customers/customers-text.ts'

/** The optional fields of a new customer. */
export interface NewCustomerFields {
  /** The most bytes the customer may keep: a number, or text that `parseByteSize` understands. Default: no limit. */
  readonly quota?: number | string
  /** The most files the customer may keep: a number, or its digits. Default: no limit. */
  readonly maxFiles?: number | string
}

/**
 * A customers file that is edited in memory; only `save` writes it. Comments, order and everything else that was not edited stay
 * unchanged. Every method throws a {@link CustomersFileError}, whose message is for a person.
 */
export interface CustomersFile {
  /** The customers' names, in the order of the file. */
  names(): readonly string[]
  has(name: string): boolean
  /** Adds a customer at the end. Throws if the name is taken, and for an invalid name, hash or limit. */
  add(name: string, passwordHash: string, fields?: NewCustomerFields): void
  /** Removes a customer. Throws if no customer has the name. */
  remove(name: string): void
  /** Sets another password. Throws if no customer has the name, or `passwordHash` is not a scrypt hash. */
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
  const indexOf = (name: string) => {
    const index = entries.findIndex((entry) => entry.name === name)
    if (index >= 0) return index
    const meant = closestWord(
      name,
      entries.map((entry) => entry.name),
    )
    const hints = meant === undefined ? [] : [`did you mean ${JSON.stringify(meant)}?`]
    throw refuse(`has no customer ${JSON.stringify(name)}`, ...hints)
  }
  const nodeAt = (index: number): YAMLMap => {
    const node = document.getIn(['customers', index], true)
    if (isMap(node)) return node
    throw refuse('uses a YAML alias for this customer', byHand)
  }
  const checkHash = (passwordHash: string) => {
    const problem = isHash(passwordHash)
      ? passwordProblem(passwordHash)
      : 'is not a scrypt hash, and nothing else may be written here'
    if (problem !== undefined) throw refuse(`the new password ${problem}`)
  }

  return {
    names: () => entries.map(({ name }) => name),
    has: (name) => entries.some((entry) => entry.name === name),
    add(name, passwordHash, { quota, maxFiles } = {}) {
      const problem = nameProblem(name)
      if (problem !== undefined) throw refuse(`no customer can have this name: ${problem}`)
      if (entries.some((entry) => entry.name === name)) {
        throw refuse(`has a customer ${JSON.stringify(name)} already`)
      }
      checkHash(passwordHash)
      const bytes = quotaBytes(quota, refuse)
      const files = fileCount(maxFiles, refuse)
      const list = document.get('customers')
      if (!isSeq(list)) throw refuse('uses a YAML alias for the customers', byHand)
      // An empty list is written as [], and with `flow` the new customer would stay on its line.
      if (list.items.length === 0) list.flow = false
      const limits = limitsOf(quota, files)
      list.add(document.createNode({ name, password: passwordHash, ...limits }))
      entries = [...entries, { name, password: passwordHash, ...limitsOf(bytes, files) }]
    },
    remove(name) {
      const index = indexOf(name)
      document.deleteIn(['customers', index])
      entries = entries.toSpliced(index, 1)
    },
    setPasswordHash(name, passwordHash) {
      const index = indexOf(name)
      checkHash(passwordHash)
      replaceValue(document, nodeAt(index), passwordHash)
      entries = entries.map((entry, at) =>
        at === index ? { ...entry, password: passwordHash } : entry,
      )
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

type Refuse = (problem: string, ...remedies: readonly string[]) => CustomersFileError

function quotaBytes(quota: number | string | undefined, refuse: Refuse): number | undefined {
  try {
    return quota === undefined ? undefined : parseByteSize(String(quota))
  } catch (error) {
    const { problem, remedies } = adviceOf(error)
    throw refuse(`the quota ${problem}`, ...remedies)
  }
}

function fileCount(maxFiles: number | string | undefined, refuse: Refuse): number | undefined {
  if (maxFiles === undefined) return undefined
  const digits = String(maxFiles)
  const count = Number(digits)
  if (/^\d+$/.test(digits) && Number.isSafeInteger(count)) return count
  throw refuse('the number of files is not a whole number', 'write digits only, as in 10000')
}

/** The limits that are set, in the order in which they are written. */
function limitsOf<Quota>(quota: Quota | undefined, maxFiles: number | undefined) {
  return {
    ...(quota !== undefined && { quota }),
    ...(maxFiles !== undefined && { maxFiles }),
  }
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
