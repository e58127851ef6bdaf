import {
  createLoginBrake,
  createQuotaKeeper,
  type BlobStore,
  type LinkServiceOptions,
  type LocalQuotaKeeper,
  type LoginBrakeOptions,
  type PasswordVerifier,
  SetupError,
} from '@holdfast/core'
import type { RequestCounters } from '@holdfast/http-koa'
import { rememberPasswords } from '@holdfast/passwords'
import type {
  SharedFailureCounter,
  SharedLocks,
  SharedUseCounter,
  EngineOptions,
} from '@holdfast/shared-redis'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { failureKey } from '../login-failure-counter.ts'
import { X509Certificate } from 'node:crypto'
import { readText, secretVariables } from '../config/environment.ts'

/** What this server counts and locks together with other servers. */
export interface SharedState {
  /** Failed logins, and wrong links. */
  readonly failures: SharedFailureCounter
  readonly counters: SharedCounters
  readonly locks: SharedLocks
  /** Opens the keeper of the quotas of the customers in `store`. */
  openQuotas(store: BlobStore): ClosableQuotaKeeper
  state(): EngineState
  close(): Promise<void>
}

/** The counters of the limits that hold for all servers together, and of links' uploads to which bytes are added. */
export interface SharedCounters {
  readonly perCustomer: SharedUseCounter
  readonly byLinksPerCustomer: SharedUseCounter
  readonly growingUploads: SharedUseCounter
}

export interface ClosableQuotaKeeper {
  readonly keeper: LocalQuotaKeeper
  /** Gives back what this server has reserved. */
  close(): Promise<void>
}

/** The Valkey or Redis, as this server sees it. */
export interface EngineState {
  /** Why it is away; `undefined` if it is not. */
  readonly awayReason: string | undefined
  /** How many servers count together, this one included. */
  readonly servers: number
}

/**
 * Connects to the Valkey or Redis of `--shared-url`; `undefined` without one. If it cannot be reached, the server counts for itself, and
 * the log says so.
 *
 * @throws SetupError for wrong settings, and for an engine that cannot be used until a person has changed something
 */
export async function openSharedState(
  config: Config,
  log: Logger,
): Promise<SharedState | undefined> {
  const settings = await findEngineSettings(config)
  if (settings === undefined) return undefined
  // Loaded only where it is used: its client is large.
  const shared = await import('@holdfast/shared-redis')
  const engine = await shared.openEngine(settings)
  const logState = (isAway: boolean, reason: string) => {
    if (isAway) log.warn({ reason }, 'shared counts away; this server counts for itself')
    else log.info({ servers: engine.servers.count() }, 'shared counts in use')
  }
  logState(engine.isAway(), engine.awayReason())
  engine.onChange(logState)
  const counter = (name: string, limit: number) =>
    shared.createSharedUseCounter(engine, { name, limit })
  const perCustomer = countedLimit(config)
  const counters = {
    perCustomer: counter('perCustomer', perCustomer),
    byLinksPerCustomer: counter('byLinksPerCustomer', perCustomer),
    // Other servers must know of each, or they may discard it.
    growingUploads: counter('growingUploads', 1),
  }
  return {
    failures: shared.createSharedFailureCounter(engine, {
      windowMs: config['login-failures-window'],
      keyOf: failureKey,
    }),
    counters,
    locks: shared.createSharedLocks(engine),
    openQuotas(store) {
      const quotas = shared.openSharedQuotas(engine, store, {
        onError: (error) => log.error({ err: error }, 'shared quotas cannot be counted'),
      })
      return {
        keeper: createQuotaKeeper(store, { shared: quotas }),
        close: () => quotas.close(),
      }
    },
    state: () => ({
      awayReason: engine.isAway() ? engine.awayReason() : undefined,
      servers: engine.servers.count(),
    }),
    async close() {
      for (const each of Object.values(counters)) each.close()
      await engine.close()
    },
  }
}

/**
 * The limit from which the reporting step of a customer's requests follows. Requests can go unreported between a worker and its primary,
 * and between servers. If both exist, each gets half of the limit.
 */
export function countedLimit(config: Omit<Config, 'readSecret'>): number {
  const limit = config['max-requests-per-customer']
  return config['shared-url'] !== undefined && config.workers > 1 ? Math.ceil(limit / 2) : limit
}

/**
 * Verifies passwords by `verify` after all servers were asked for failed logins. A guess has been counted on all of them when it
 * resolves. Remembered passwords ask no one.
 */
export function verifyWithOthers(
  verify: PasswordVerifier,
  { failures }: Pick<SharedState, 'failures'>,
  options: Omit<LoginBrakeOptions, 'counter'>,
): PasswordVerifier {
  const brake = createLoginBrake({ ...options, counter: failures.exact })
  return rememberPasswords((password, passwordHash, { address = '', name = '', signal } = {}) =>
    brake.attempt({ name, address, password, signal }, () =>
      verify(password, passwordHash, { address, signal }),
    ),
  )
}

/** The counters of requests of a server, of which some are shared. */
export function withSharedCounters(
  own: RequestCounters,
  { counters }: Pick<SharedState, 'counters'>,
): RequestCounters {
  const { perCustomer, byLinksPerCustomer } = counters
  return { ...own, perCustomer, byLinksPerCustomer }
}

/** The locks and counters of links. */
export function sharedLinks({
  locks,
  counters,
}: Pick<SharedState, 'counters' | 'locks'>): Pick<
  LinkServiceOptions,
  'publishLocks' | 'growingUploads'
> {
  return { publishLocks: locks, growingUploads: counters.growingUploads }
}

/** How to connect to the Valkey or Redis that several servers share. */
export interface EngineSettings extends Pick<
  EngineOptions,
  'url' | 'username' | 'password' | 'sentinelPassword'
> {
  /** The authorities of its certificate, in PEM form; absent for those that Node.js knows. */
  readonly ca?: string
  readonly prefix: NonNullable<EngineOptions['prefix']>
}

/**
 * The settings of the shared engine, with the passwords from the configuration's environment; `undefined` if the server counts for
 * itself.
 *
 * @throws SetupError for a user without a password, an authority that cannot be used, and what is wrong with the password's source
 */
export async function findEngineSettings(config: Config): Promise<EngineSettings | undefined> {
  const { 'shared-url': url, 'shared-user': username, 'shared-prefix': prefix } = config
  if (url === undefined) return undefined
  const password = await config.readSecret('shared-password')
  const sentinelPassword = await config.readSecret('shared-sentinel-password')
  if (username !== undefined && password === undefined) {
    const { value, file } = secretVariables('shared-password')
    throw new SetupError('The user of Valkey or Redis (--shared-user) has no password', [
      `set ${value}, or ${file} with the path of a file that holds it.`,
    ])
  }
  const ca = await readAuthorities(config)
  return {
    url,
    prefix,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(ca !== undefined && { ca }),
  }
}

async function readAuthorities({
  'shared-url': url = '',
  'shared-ca': path,
}: Config): Promise<string | undefined> {
  if (path === undefined) return undefined
  if (!/^rediss/i.test(url)) {
    throw new SetupError(
      'The connection to Valkey or Redis is not encrypted, so that --shared-ca has no effect',
      ['write rediss instead of redis in --shared-url, or leave --shared-ca out.'],
    )
  }
  const subject = `The file ${path} (--shared-ca)`
  const text = await readText(path, subject)
  try {
    new X509Certificate(text)
    return text
  } catch {
    throw new SetupError(`${subject} is not a certificate in PEM form`, [
      'name the file that begins with -----BEGIN CERTIFICATE-----.',
    ])
  }
}
