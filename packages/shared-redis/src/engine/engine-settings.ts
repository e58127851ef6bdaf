import {
  requireFunction,
  requireOptions,
  requireText,
  SetupError,
  requireCount,
  type OptionCheck,
} from '@holdfast/core'
import { parseEngineUrl, type EngineAddress } from './engine-address.ts'

/** How to reach an engine, and how to use it. */
export interface EngineOptions {
  /** Where the engine is; {@link parseEngineUrl} says in which forms. It contains no password. */
  readonly url: string
  /** Default: the user of the URL, otherwise that which the engine calls `default`. */
  readonly username?: string
  readonly password?: string
  /** The user at the Sentinels. Default: `default`. */
  readonly sentinelUsername?: string
  /** The password at the Sentinels. Default: none; the password of the engine is never sent to them. */
  readonly sentinelPassword?: string
  /** Certificates of the authorities to trust, as PEM, instead of those of Node.js. For TLS only. */
  readonly ca?: string
  /** This server's own certificate, as PEM, for an engine that demands one (`tls-auth-clients yes`). */
  readonly certificate?: string
  /** The key of that certificate, as PEM. */
  readonly privateKey?: string
  /** What all keys begin with. Default: `holdfast`. Servers with equal prefixes count together. */
  readonly prefix?: string
  /** After how long without a sign of life a server is dead, in milliseconds, at least 3,000. Default: 10,000. */
  readonly leaseMs?: number
  /** How long a request waits for the engine, in milliseconds. Default: 250. */
  readonly timeoutMs?: number
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
}

/** The options with all defaults, checked. */
export interface EngineSettings {
  readonly address: EngineAddress
  readonly login: Login
  readonly sentinelLogin: Login
  readonly tls: TlsMaterial
  readonly prefix: string
  readonly leaseMs: number
  readonly timeoutMs: number
  readonly now: () => number
}

export interface Login {
  readonly username?: string
  readonly password?: string
}

/** What TLS needs, in the words of `node:tls`. */
export interface TlsMaterial {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** How long connecting to a server of the engine and logging in may take, in milliseconds. */
export const connectTimeoutMs = 1_000

/** The value must be a number of milliseconds, not below 0. */
export const requireMs: OptionCheck = (what, value) => requireCount(what, value, 'milliseconds')

const optionChecks = {
  url: requireText,
  'username?': requireText,
  'password?': requireText,
  'sentinelUsername?': requireText,
  'sentinelPassword?': requireText,
  'ca?': requireText,
  'certificate?': requireText,
  'privateKey?': requireText,
  'prefix?': requireText,
  'leaseMs?': requireMs,
  'timeoutMs?': requireMs,
  'now?': requireFunction,
}

/**
 * Checks the options, and fills in the defaults.
 *
 * @throws SetupError that says which setting is wrong; TypeError or RangeError for what only a program can get wrong
 */
export function resolveEngineSettings(options: EngineOptions): EngineSettings {
  requireOptions('openEngine({ url })', options, optionChecks)
  const { url, prefix = 'holdfast', leaseMs = 10_000, timeoutMs = 250 } = options
  const address = parseEngineUrl(url)
  // Braces in it would decide on which node of a Cluster a key is, and other programs would read a pattern from the rest.
  if (!/^[\w.:-]{1,100}$/.test(prefix)) {
    throw new SetupError(`The prefix of the engine's keys cannot be "${prefix}"`, [
      'Take letters, digits, and the characters . : _ -',
    ])
  }
  if (!(leaseMs >= 3_000)) throw new RangeError('leaseMs must be at least 3,000')
  if (!(timeoutMs > 0)) throw new RangeError('timeoutMs must be above 0')
  return {
    address,
    login: loginOf(options, address),
    sentinelLogin: definedOnly({
      username: options.sentinelUsername,
      password: options.sentinelPassword,
    }),
    tls: tlsOf(options, address),
    prefix,
    leaseMs,
    timeoutMs,
    now: options.now ?? (() => performance.now()),
  }
}

function loginOf({ username, password }: EngineOptions, address: EngineAddress): Login {
  if (username !== undefined && address.username !== undefined && username !== address.username) {
    throw new SetupError('The URL of the engine and a setting name different users', [
      'Remove one of them',
    ])
  }
  const user = username ?? address.username
  if (user !== undefined && !password) {
    throw new SetupError(`The engine's user ${user} has no password`, [
      'Put it into the variable HOLDFAST_SHARED_PASSWORD, or into a file that HOLDFAST_SHARED_PASSWORD_FILE names',
    ])
  }
  return definedOnly({ username: user, password })
}

function tlsOf({ ca, certificate, privateKey }: EngineOptions, { tls }: EngineAddress) {
  const material = definedOnly({ ca, cert: certificate, key: privateKey })
  if (tls || Object.keys(material).length === 0) return material
  throw new SetupError('There are certificates for the engine, but its URL is one without TLS', [
    'Write rediss:// instead of redis://',
  ])
}

/** The same without the properties that are `undefined`. */
function definedOnly<T extends object>(given: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

const firstMs = 50
const longestMs = 1_000

/**
 * How long to wait before the next attempt, in milliseconds, after some failures: up to a second, and up to a quarter less by chance, so
 * that many servers do not connect at the same moment.
 */
export function backoffMs(failures: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20))
  return full * (1 - Math.random() / 4)
}
