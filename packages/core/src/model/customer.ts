import { type Right, rights } from '../ports/credential-source.ts'
import { FileServiceError } from './errors.ts'
import { nameProblem } from './file-name.ts'
import { kindOf, requireCount } from './require.ts'

/** An authenticated owner of files. */
export interface Customer {
  readonly name: string
  /** The most bytes the customer may keep. Default: no limit. */
  readonly quota?: number
  /** The most files the customer may keep. Default: no limit. */
  readonly maxFiles?: number
  /** How long after their last change the customer's files are deleted, in milliseconds, an hour or more. Default: never. */
  readonly expireAfterMs?: number
  /** How long earlier versions and deleted files can be restored, in milliseconds; 0: none is kept. Default: the service's. */
  readonly keepReplacedMs?: number
  /** By which of the customer's further logins the caller came. Default: by the customer's own. */
  readonly login?: string
  /** What that login may do. Default: everything. */
  readonly may?: readonly Right[]
}

/** Whether the customer has a limit of bytes or of files. */
export function isLimited({ quota, maxFiles }: Customer): boolean {
  return quota !== undefined || maxFiles !== undefined
}

/**
 * Refuses an invalid customer from an application.
 *
 * @throws TypeError when a name is not a string or breaks the policy for names, a limit is not a number, or `may` is no list
 * @throws RangeError when a limit is below 0 or NaN, `expireAfterMs` is below an hour, `keepReplacedMs` is neither 0 nor a minute or more, or `may` has an unknown right, or `replace` without `create`
 */
export function checkCustomer(customer: Customer): void {
  const given: unknown = customer
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`A customer is an object, as in filesOf({ name }), not ${kindOf(given)}`)
  }
  const { quota, maxFiles, login, may, expireAfterMs, keepReplacedMs } = customer
  requireName('customer', customer.name)
  if (login !== undefined) requireName('login', login)
  if (may !== undefined) requireRightsList(may)
  if (quota !== undefined) requireCount("A customer's quota", quota)
  if (maxFiles !== undefined) requireCount("A customer's maxFiles", maxFiles, 'files')
  if (expireAfterMs !== undefined) requireExpiry(expireAfterMs)
  if (keepReplacedMs !== undefined) requireKeeping("A customer's keepReplacedMs", keepReplacedMs)
}

/** The shortest time after which files may expire, in milliseconds: a slip such as seconds for milliseconds must not empty a store. */
const shortestExpiryMs = 3_600_000

function requireExpiry(expireAfterMs: unknown): void {
  requireCount("A customer's expireAfterMs", expireAfterMs, 'milliseconds')
  if (expireAfterMs >= shortestExpiryMs) return
  throw new RangeError(
    `A customer's expireAfterMs must be ${shortestExpiryMs} milliseconds or more, not ${expireAfterMs}`,
  )
}

/** The shortest time for which earlier versions are kept, in milliseconds, and the longest, which is a thousand years. */
const [shortestKeepMs, longestKeepMs] = [60_000, 3.16e13]

/** @throws TypeError or RangeError when it is neither 0 nor a time for which earlier versions may be kept */
export function requireKeeping(what: string, keepReplacedMs: unknown): void {
  requireCount(what, keepReplacedMs, 'milliseconds')
  if (keepReplacedMs === 0) return
  if (keepReplacedMs >= shortestKeepMs && keepReplacedMs <= longestKeepMs) return
  throw new RangeError(
    `${what} must be 0, or ${shortestKeepMs} to ${longestKeepMs} milliseconds, not ${keepReplacedMs}`,
  )
}

function requireName(whose: 'customer' | 'login', name: unknown): void {
  if (typeof name !== 'string') {
    throw new TypeError(`A ${whose}'s name must be a string, not ${kindOf(name)}`)
  }
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Invalid ${whose} name: ${problem}`)
}

function requireRightsList(may: unknown): void {
  if (!Array.isArray(may)) {
    throw new TypeError(`A customer's may must be a list of rights, not ${kindOf(may)}`)
  }
  const problem = rightsProblem(may)
  if (problem !== undefined) throw new RangeError(`A customer's may ${problem}`)
}

/** The name with which a customer's login authenticates: `CUSTOMER`, or `CUSTOMER/LOGIN`. Neither part has a `/`. */
export function loginName({ name, login }: Pick<Customer, 'name' | 'login'>): string {
  return login === undefined ? name : `${name}/${login}`
}

/** The customer and the login of a {@link loginName}. */
export function splitLoginName(text: string): Pick<Customer, 'name' | 'login'> {
  const slash = text.indexOf('/')
  if (slash < 0) return { name: text }
  return { name: text.slice(0, slash), login: text.slice(slash + 1) }
}

/** Words for the usual sets of rights. */
export const rightSets = {
  /** Everything. */
  full: rights,
  /** Lists and reads. */
  'read-only': ['list', 'read'],
  /** Lists, reads and adds, as for back-ups that a stolen password must not destroy. */
  'append-only': ['list', 'read', 'create'],
  /** Adds, and sees nothing. */
  'drop-box': ['create'],
} as const satisfies Record<string, readonly Right[]>

/** Who has rights, such as a `Customer`. */
interface Holder {
  /** Default: every right. */
  readonly may?: readonly Right[]
}

/** Whether a customer's login has all of these rights. */
export function hasRights({ may }: Holder, ...needed: readonly Right[]): boolean {
  return may === undefined || needed.every((right) => may.includes(right))
}

/** @throws FileServiceError `not-allowed`, which names the rights that the holder lacks */
export function requireRights(holder: Holder, ...needed: readonly Right[]): void {
  if (hasRights(holder, ...needed)) return
  const missing = needed.filter((right) => !hasRights(holder, right))
  const what = missing.length === 1 ? 'right' : 'rights'
  throw new FileServiceError('not-allowed', `Not allowed: missing ${what} ${missing.join(', ')}`)
}

/**
 * What is wrong with a list of rights; `undefined` if nothing is. `replace` needs `create`: no store can replace a file only if there is
 * one.
 */
export function rightsProblem(may: readonly unknown[]): string | undefined {
  const unknown = may.find((right) => !rights.some((known) => known === right))
  if (unknown !== undefined) {
    const named = typeof unknown === 'string' ? JSON.stringify(unknown) : kindOf(unknown)
    return `has ${named}, which is no right`
  }
  return may.includes('replace') && !may.includes('create')
    ? 'has "replace" without "create"'
    : undefined
}
