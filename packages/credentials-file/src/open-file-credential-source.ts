import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  advice,
  adviceText,
  having,
  loginName,
  requireCount,
  requireFunction,
  requireOptions,
  requireText,
  type Advice,
  type Credential,
  type CredentialSource,
} from '@holdfast/core'
import {
  sealPlainPassword,
  type ScryptCost,
  standardScryptCost,
  isSameScryptCost,
  parseScryptHash,
  linkKeyOfHash,
  linkKeyOfPassword,
} from '@holdfast/passwords'
import { CustomersFileError } from './customers/customers-file-error.ts'
import {
  isHash,
  parseCustomers,
  type CustomerEntry,
  type LoginEntry,
} from './customers/parse-customers.ts'
import { type CustomersText, readCustomersText } from './customers/customers-text.ts'
import { openWatchedFiles, type Reading } from './open-watched-files.ts'
import { programName, type CustomerWebhook } from './messages.ts'
/** The changes by a reload: names in the order of the file, further logins as `CUSTOMER/LOGIN`, without any secret. */
export interface ReloadSummary {
  /** How many customers there are now. */
  readonly customers: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Those with another password, quota, `maxFiles`, expiry, time for which replaced files are kept, webhook, rights or end. */
  readonly changed: readonly string[]
}

export interface FileCredentialSourceOptions {
  /** Called after changed customers from the file are in use. */
  readonly onReloaded?: (summary: ReloadSummary) => void
  /**
   * Called when the file is refused; the earlier customers stay in use. While watching, this is called once for each content or
   * error; on {@link FileCredentialSource.reload} each time.
   */
  readonly onRefused?: (error: CustomersFileError) => void
  /**
   * Called with warnings (plain-text passwords, hashes with another cost, permissions for all users): on opening, and later with
   * each new one.
   */
  readonly onWarning?: (message: string) => void
  /** How often the file is checked for changes, in milliseconds; with 0 only `reload` reads it again. Default: 1,000. */
  readonly pollIntervalMs?: number
  /**
   * The cost that hashes should have; others cause a warning. The link keys of customers with a plain-text password are computed
   * with it, so servers that share a file need the same cost. Default: {@link standardScryptCost}.
   */
  readonly cost?: ScryptCost
}

/** The customers of a file. */
export interface FileCredentialSource extends CredentialSource {
  find(name: string): Credential | undefined
  linkKey(name: string): Promise<Uint8Array | undefined>
  /** The present customers' names, in the order of the file. */
  customers(): readonly string[]
  /** What `find` finds: all customers and their further logins, in the order of the file. */
  all(): readonly Credential[]
  /** Where customers get their own events, by their names. */
  webhooks(): ReadonlyMap<string, CustomerWebhook>
  /** The warnings about the file whose customers are in use; see `onWarning`. */
  warnings(): readonly Advice[]
  /**
   * Reads the file again, after any reading under way. Resolves with `true` when its customers are in use, and with `false` when it
   * was refused (see `onRefused`). It never rejects because of a mistake in the file.
   */
  reload(): Promise<boolean>
  /** Since when the file has been refused, so that the earlier customers are in use; `undefined` if it is not. */
  refusedSince(): Date | undefined
  /** Stops watching the file; resolves when no reading is under way. The customers stay in use. */
  close(): Promise<void>
}

interface Snapshot {
  readonly contentDigest: string
  readonly credentials: ReadonlyMap<string, Credential>
  readonly webhooks: ReadonlyMap<string, CustomerWebhook>
  readonly warnings: readonly Advice[]
  readonly keyMaterial: KeyMaterial
}

/**
 * Reads a customers file (see this package's README for the format) and keeps watching it.
 *
 * All customers are replaced in one step, and only by a file without any mistake: a broken, half-written or missing file is refused
 * and reported, and the earlier customers stay in use. `find` reads memory and never waits for the file.
 *
 * @throws CustomersFileError when the file is refused at the first reading.
 */
export async function openFileCredentialSource(
  path: string,
  options: FileCredentialSourceOptions = {},
): Promise<FileCredentialSource> {
  requireText('The path of the customers file', path)
  requireOptions("openFileCredentialSource('customers.yaml', { onWarning })", options, {
    'onReloaded?': requireFunction,
    'onRefused?': requireFunction,
    'onWarning?': requireFunction,
    'pollIntervalMs?': (what, value) => requireCount(what, value, 'milliseconds'),
    'cost?': having(),
  })
  const { onReloaded, onRefused, onWarning, pollIntervalMs = 1_000 } = options
  const { cost = standardScryptCost } = options
  const warn = (warnings: readonly string[]) => {
    for (const warning of warnings) onWarning?.(warning)
  }
  const file = await openWatchedFiles<Snapshot, CustomersFileError>([path], {
    read: () => readSnapshot(path, cost),
    pollIntervalMs,
    onTaken(next, before) {
      const known = before.warnings.map(adviceText)
      warn(next.warnings.map(adviceText).filter((warning) => !known.includes(warning)))
      if (before.contentDigest === next.contentDigest) return
      onReloaded?.(compare(before, next))
    },
    onRefused: (error) => onRefused?.(error),
  })
  warn(file.current().warnings.map(adviceText))
  const linkKey = createLinkKeys(cost)
  return {
    find: (name) => file.current().credentials.get(name),
    linkKey: (name) => linkKey(file.current().keyMaterial, name),
    customers: () => [...file.current().credentials.keys()].filter((name) => !name.includes('/')),
    all: () => [...file.current().credentials.values()],
    webhooks: () => file.current().webhooks,
    warnings: () => file.current().warnings,
    reload: () => file.reload(),
    refusedSince: () => file.refusedSince(),
    close: () => file.close(),
  }
}

async function readSnapshot(
  path: string,
  cost: ScryptCost,
): Promise<Reading<Snapshot, CustomersFileError>> {
  let content: CustomersText | undefined
  try {
    content = await readCustomersText(path)
    return { value: snapshotOf(content, path, cost) }
  } catch (cause) {
    const error = refusalOf(cause, path)
    // Wrong content stays wrong. But an unreadable file may become readable while its times stay the same.
    const isFinal = content !== undefined
    const reason = content === undefined ? error.message : digest(content.text)
    return { refusal: { error, reason, isFinal } }
  }
}

function refusalOf(error: unknown, path: string): CustomersFileError {
  if (error instanceof CustomersFileError) return error
  return new CustomersFileError(path, [advice(`cannot be read (${String(error)})`)], error)
}

function snapshotOf({ text, mode }: CustomersText, path: string, cost: ScryptCost): Snapshot {
  const customers = parseCustomers(text, path).entries
  const entries = customers.flatMap(loginsOf)
  const plain = entries.filter(({ password }) => !isHash(password))
  const credentials = new Map(
    entries.map(({ password, ...entry }): [string, Credential] => {
      const passwordHash = isHash(password) ? password : sealPlainPassword(password)
      return [entry.name, Object.freeze({ ...entry, passwordHash })]
    }),
  )
  return {
    contentDigest: digest(text),
    credentials,
    webhooks: new Map(customers.flatMap(({ name, webhook }) => (webhook ? [[name, webhook]] : []))),
    warnings: customersWarnings({ path, entries, mode, cost }),
    keyMaterial: {
      hashOf: (name) => credentials.get(name)?.passwordHash,
      plainPasswords: new Map(plain.map(({ name, password }) => [name, password])),
    },
  }
}

/** A login with the name by which it is found, and with its customer's limits. */
type NamedLogin = Omit<CustomerEntry, 'logins' | 'webhook'> & LoginEntry & Pick<Credential, 'login'>

/** The customer's own login, and the further ones. */
function loginsOf({ logins = [], webhook: _, ...own }: CustomerEntry): readonly NamedLogin[] {
  const { password: __, may: ___, ...limits } = own
  return [
    own,
    ...logins.map((login) => ({
      ...limits,
      ...login,
      name: loginName({ name: own.name, login: login.name }),
      login: login.name,
    })),
  ]
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function compare(before: Snapshot, after: Snapshot): ReloadSummary {
  const isChanged = (credential: Credential) => {
    const { name } = credential
    const earlier = before.credentials.get(name)
    const fields = [
      ...(['passwordHash', 'quota', 'maxFiles', 'endsAtMs', 'expireAfterMs'] as const),
      'keepReplacedMs' as const,
    ]
    const may = ({ may: granted }: Credential) => granted?.join()
    return (
      earlier &&
      (may(earlier) !== may(credential) ||
        !isDeepStrictEqual(before.webhooks.get(name), after.webhooks.get(name)) ||
        fields.some((field) => earlier[field] !== credential[field]))
    )
  }
  return {
    customers: [...after.credentials.keys()].filter((name) => !name.includes('/')).length,
    added: [...after.credentials.keys()].filter((name) => !before.credentials.has(name)),
    removed: [...before.credentials.keys()].filter((name) => !after.credentials.has(name)),
    changed: [...after.credentials.values()].filter(isChanged).map(({ name }) => name),
  }
}

interface WarningsInput {
  readonly path: string
  readonly entries: readonly NamedLogin[]
  readonly mode: number | undefined
  /** The cost that hashes should have. */
  readonly cost: ScryptCost
}

/**
 * Warnings about a correct customers file, with their remedies; they never show a password or a hash.
 */
function customersWarnings({ path, entries, mode, cost }: WarningsInput): readonly Advice[] {
  const plain = entries.filter(({ password }) => !isHash(password))
  const ended = entries.filter(({ endsAtMs = Infinity }) => endsAtMs <= Date.now())
  const odd = entries.filter(
    ({ password }) => isHash(password) && !isSameScryptCost(parseScryptHash(password).cost, cost),
  )
  const warnings: Advice[] = []
  if (plain.length > 0) {
    warnings.push(
      advice(`${path}: the password stands in plain text for ${named(plain)}`, rotate()),
    )
  }
  if (odd.length > 0) {
    const standard = `ln=${cost.ln},r=${cost.r},p=${cost.p}`
    warnings.push(
      advice(
        `${path}: the hash has another cost than ${standard} for ${named(odd)}, so that the time of an answer reveals that the customer exists`,
        rotate(),
      ),
    )
  }
  if (ended.length > 0) {
    const remedy = `remove each with: ${programName()} customers remove NAME --login LOGIN`
    warnings.push(advice(`${path}: the login has ended for ${named(ended)}`, remedy))
  }
  if (mode !== undefined && (mode & 0o006) !== 0) {
    const done = (mode & 0o002) === 0 ? 'read' : 'written'
    warnings.push(
      advice(
        `${path}: the file may be ${done} by every user of this machine`,
        `run: chmod o= ${path}`,
      ),
    )
  }
  return warnings
}

const rotate = () => `replace each with: ${programName()} customers rotate NAME`
const shownNames = 10

function named(entries: readonly NamedLogin[]): string {
  const names = entries.slice(0, shownNames).map(({ name }) => JSON.stringify(name))
  const more = entries.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** The data from which link keys are derived. Each reading of the file makes a new one. */
interface KeyMaterial {
  /** The hash or sealed password of a customer; it changes only if the entry in the file does. */
  readonly hashOf: (name: string) => string | undefined
  /** The plain-text passwords in the file, by customer; emptied after their keys were computed. */
  readonly plainPasswords: Map<string, string>
}

/** The key for links of the customer called `name`; see `CredentialSource`. */
type LinkKeys = (material: KeyMaterial, name: string) => Promise<Uint8Array | undefined>

/**
 * {@link LinkKeys} of which the first call computes the keys of all plain-text passwords, one after the other. If each key were
 * computed when its customer is named, the time would reveal which customers exist. Keys are kept until the passwords change.
 */
function createLinkKeys(cost: ScryptCost): LinkKeys {
  let known: ReadonlyMap<string, Uint8Array> = new Map()
  let computing: Promise<void> = Promise.resolve()

  const compute = async ({ hashOf, plainPasswords }: KeyMaterial) => {
    const next = new Map<string, Uint8Array>()
    for (const [name, password] of plainPasswords) {
      const cacheKey = cacheKeyOf(name, hashOf(name))
      next.set(cacheKey, known.get(cacheKey) ?? (await linkKeyOfPassword(name, password, cost)))
    }
    known = next
    plainPasswords.clear()
  }

  const computeInOrder = (material: KeyMaterial) => {
    const mine = computing.then(() => {
      if (material.plainPasswords.size > 0) return compute(material)
    })
    computing = mine.catch(() => {})
    return mine
  }

  return async (material, name) => {
    await computeInOrder(material)
    const passwordHash = material.hashOf(name)
    const fromHash = linkKeyOfHash(name, passwordHash)
    return known.get(cacheKeyOf(name, passwordHash)) ?? fromHash
  }
}

/** The key of `known`. Names and hashes contain no NUL. */
function cacheKeyOf(name: string, passwordHash = ''): string {
  return `${name}\0${passwordHash}`
}
