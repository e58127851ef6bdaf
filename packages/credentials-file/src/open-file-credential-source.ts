import { createHash } from 'node:crypto'
import { adviceText, type Advice, type Credential, type CredentialSource } from '@holdfast/core'
import { sealPlainPassword, type ScryptCost, standardScryptCost } from '@holdfast/passwords'
import { CustomersFileError } from './customers/customers-file-error.ts'
import { customersWarnings } from './customers/customers-warnings.ts'
import { isHash, parseCustomers } from './customers/parse-customers.ts'
import { type CustomersText, readCustomersText } from './customers/read-customers-text.ts'
import { watchPaths } from './watch-paths.ts'

/** What a reload changed: names in the order of the file, and nothing that is secret. */
export interface ReloadSummary {
  /** How many customers there are now. */
  readonly customers: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Those with another password, quota or number of files. */
  readonly changed: readonly string[]
}

export interface FileCredentialSourceOptions {
  /** Called after changed customers have been taken from the file. */
  readonly onReloaded?: (summary: ReloadSummary) => void
  /**
   * Called when the file cannot be taken; the customers known before stay. While watching, once for each content or
   * condition; on {@link FileCredentialSource.reload} each time.
   */
  readonly onRefused?: (error: CustomersFileError) => void
  /**
   * Called with what should be mended (plain-text passwords, odd hashes, loose permissions), on opening and whenever
   * it is new.
   */
  readonly onWarning?: (message: string) => void
  /** Milliseconds between two looks at the file; 0 for none, so that only `reload` reads it again. Default: 1,000. */
  readonly pollIntervalMs?: number
  /** The cost that hashes should have; others bring a warning. Default: {@link standardScryptCost}. */
  readonly cost?: ScryptCost
}

/** The customers of a file. */
export interface FileCredentialSource extends CredentialSource {
  find(name: string): Credential | undefined
  /** The customers' names now, in the order of the file. */
  customers(): readonly string[]
  /** What should be mended in the file as it was taken; see `onWarning`. */
  warnings(): readonly Advice[]
  /**
   * Reads the file again, after any reading under way. `true` when its customers are the ones in use now, `false` when
   * it was refused (see `onRefused`). Never rejects for what is wrong with the file.
   */
  reload(): Promise<boolean>
  /** Since when the file has been refused, so that the customers are those of before; `undefined` if it is not. */
  refusedSince(): Date | undefined
  /** Stops watching the file; resolves when no reading is under way. Customers are found as before. */
  close(): Promise<void>
}

interface Snapshot {
  readonly contentDigest: string
  readonly credentials: ReadonlyMap<string, Credential>
  readonly warnings: readonly Advice[]
}

/**
 * Reads a customers file (see this package's README for the format) and keeps watching it.
 *
 * Customers are replaced all in one step, and only by a file that is right as a whole: a broken, half-written or
 * missing file is refused aloud while the customers known before stay. Lookups read memory and never wait for the
 * file.
 *
 * @throws CustomersFileError when the file cannot be taken now.
 */
export async function openFileCredentialSource(
  path: string,
  options: FileCredentialSourceOptions = {},
): Promise<FileCredentialSource> {
  const { onReloaded, onRefused, onWarning, pollIntervalMs = 1_000 } = options
  const { cost = standardScryptCost } = options
  let current = snapshotOf(await readCustomersText(path), path, cost)
  for (const warning of current.warnings) onWarning?.(adviceText(warning))
  let lastRefused: string | undefined
  let refusedSince: Date | undefined
  let reading: Promise<unknown> = Promise.resolve()

  const take = (next: Snapshot) => {
    const before = current
    current = next
    lastRefused = undefined
    refusedSince = undefined
    const known = before.warnings.map(adviceText)
    for (const warning of next.warnings.map(adviceText)) {
      if (!known.includes(warning)) onWarning?.(warning)
    }
    if (before.contentDigest === next.contentDigest) return
    onReloaded?.(compare(before.credentials, next.credentials))
  }
  const read = async (isAsked: boolean): Promise<Outcome> => {
    let content: CustomersText | undefined
    try {
      content = await readCustomersText(path)
      take(snapshotOf(content, path, cost))
      return 'taken'
    } catch (error) {
      if (!(error instanceof CustomersFileError)) throw error
      const refused = content === undefined ? error.message : digest(content.text)
      const isNew = refused !== lastRefused
      lastRefused = refused
      refusedSince ??= new Date()
      if (isNew || isAsked) onRefused?.(error)
      return content === undefined ? 'unreadable' : 'refused'
    }
  }
  const readInTurn = (isAsked: boolean) => {
    const result = reading.then(() => read(isAsked))
    // A callback of the caller's that throws is this reading's failure, not the next one's.
    reading = result.catch(() => {})
    return result
  }
  const watch =
    pollIntervalMs > 0
      ? watchPaths([path], {
          intervalMs: pollIntervalMs,
          onChanged: async () => (await readInTurn(false)) !== 'unreadable',
        })
      : undefined

  return {
    find: (name) => current.credentials.get(name),
    customers: () => [...current.credentials.keys()],
    warnings: () => current.warnings,
    reload: async () => (await readInTurn(true)) === 'taken',
    refusedSince: () => refusedSince,
    async close() {
      await watch?.close()
      await reading
    },
  }
}

type Outcome = 'taken' | 'refused' | 'unreadable'

function snapshotOf({ text, mode }: CustomersText, path: string, cost: ScryptCost): Snapshot {
  const { entries } = parseCustomers(text, path)
  const credentials = entries.map(({ password, ...entry }): Credential => {
    const passwordHash = isHash(password) ? password : sealPlainPassword(password)
    return Object.freeze({ ...entry, passwordHash })
  })
  return {
    contentDigest: digest(text),
    credentials: new Map(credentials.map((credential) => [credential.name, credential])),
    warnings: customersWarnings({ path, entries, mode, cost }),
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function compare(
  before: ReadonlyMap<string, Credential>,
  after: ReadonlyMap<string, Credential>,
): ReloadSummary {
  const isChanged = (credential: Credential) => {
    const earlier = before.get(credential.name)
    const fields = ['passwordHash', 'quota', 'maxFiles'] as const
    return earlier && fields.some((field) => earlier[field] !== credential[field])
  }
  return {
    customers: after.size,
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after.values()].filter(isChanged).map(({ name }) => name),
  }
}
