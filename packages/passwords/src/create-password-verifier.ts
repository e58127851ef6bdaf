import { randomBytes, timingSafeEqual, hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import {
  having,
  requireCount,
  requireFunction,
  requireOptions,
  type PasswordVerifier,
} from '@holdfast/core'
import { LRUCache } from 'lru-cache'
import {
  type ComputeScrypt,
  computeScrypt as computeScryptApart,
  formatScryptHash,
  parseScryptHash,
  type ScryptCost,
  scryptCostProblem,
  standardScryptCost,
} from './compute-scrypt.ts'
import { createHashingQueue } from './hashing-queue.ts'
import { isSealedPlainPassword, matchesSealedPassword, sealPlainPassword } from './hash-password.ts'

export interface PasswordVerifierOptions extends RememberOptions {
  /**
   * How many hashes are computed at a time; all verifiers together compute at most one for each processor. Concurrent hashes run in
   * separate threads, which have a lower priority on Linux. A single one, and all if such threads cannot be started, run on Node's
   * thread pool, which also reads and writes files, and has four threads unless `UV_THREADPOOL_SIZE` says otherwise. Default: the
   * number of processors, but at most 4, and at most half of the pool.
   */
  readonly concurrency?: number
  /** How many further verifications may wait; beyond that some are refused as `overloaded`. Default: 100. */
  readonly queueLimit?: number
  /** The cost of the hashes in use; a verification for an unknown customer costs as much. Default: {@link standardScryptCost}. */
  readonly cost?: ScryptCost
  /** Computes scrypt. Default: `node:crypto`, as described at `concurrency`. */
  readonly computeScrypt?: ComputeScrypt
}

/**
 * A verifier for scrypt hashes in PHC form and for the strings of `sealPlainPassword`.
 *
 * Passwords are compared by their UTF-8 bytes. A wrong password, an unknown customer and a customer with a plain-text password in the
 * file all take the same steps and one computation of the same cost, provided that the hash has the verifier's `cost`. A right
 * password is remembered until it has not been used for `rememberMs`, as a keyed digest of password and hash, and then costs almost
 * nothing; a wrong password is never remembered. To compute the hash again would prove no more than that digest. Of many concurrent
 * first logins with the same right password, at most `concurrency` are computed.
 *
 * The addresses are served in rotation: many logins from a few addresses delay a login from another address by only one computation
 * for each of these. If too many wait, the latest login of the address with most waiting logins is refused: it rejects with
 * `overloaded`. A call rejects with a `RangeError` for a hash that it does not understand.
 *
 * @throws RangeError for invalid options.
 */
export function createPasswordVerifier(options: PasswordVerifierOptions = {}): PasswordVerifier {
  requireOptions('createPasswordVerifier({ concurrency })', options, {
    'cost?': having(),
    'computeScrypt?': requireFunction,
    'rememberMs?': (what, value) => requireCount(what, value, 'milliseconds'),
    'now?': requireFunction,
  })
  const { cost = standardScryptCost, computeScrypt = computeScryptApart } = options
  const { concurrency = defaultConcurrency(), queueLimit = 100 } = options
  checkOptions({ cost, concurrency, queueLimit })
  const queue = createHashingQueue({ concurrency, limit: queueLimit })
  const digest = createPairDigest()
  const decoys = createDecoys(cost)

  const hasPassword = async (password: string, passwordHash: string | undefined) => {
    const isSealed = passwordHash !== undefined && isSealedPlainPassword(passwordHash)
    const isHash = passwordHash !== undefined && !isSealed
    const { cost, salt, hash: expected } = parseScryptHash(isHash ? passwordHash : decoys.hash)
    const computed = await computeScrypt(password, salt, expected.length, cost)
    const matchesHash = timingSafeEqual(computed, expected)
    const matchesSealed = matchesSealedPassword(password, isSealed ? passwordHash : decoys.sealed)
    return (isHash && matchesHash) || (isSealed && matchesSealed)
  }

  const verify: PasswordVerifier = (password, passwordHash, { address = '', signal } = {}) => {
    const key = digest(password, passwordHash ?? decoys.hash)
    return queue.run({ key, address, signal }, () => hasPassword(password, passwordHash))
  }

  return rememberPasswords(verify, options)
}

/** Few enough that hashing takes at most half of the main thread's time: the system shares the processors among all threads. */
function defaultConcurrency(): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4
  return Math.max(1, Math.min(availableParallelism(), 4, Math.floor(threads / 2)))
}

/** Hashes for unknown customers, so that an attempt does the same work for every name. */
function createDecoys(cost: ScryptCost) {
  return {
    hash: formatScryptHash({ cost, salt: randomBytes(16), hash: randomBytes(32) }),
    sealed: sealPlainPassword(randomBytes(16).toString('base64')),
  }
}

function checkOptions(options: { cost: ScryptCost; concurrency: number; queueLimit: number }) {
  const { cost, concurrency, queueLimit } = options
  const problem = scryptCostProblem(cost)
  if (problem !== undefined) throw new RangeError(`The scrypt cost is unacceptable: ${problem}`)
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `The concurrency is ${concurrency}; it must be a whole number of at least 1`,
    )
  }
  if (!(queueLimit >= 0))
    throw new RangeError(`The queue limit is ${queueLimit}; it cannot be negative`)
}

export interface RememberOptions {
  /**
   * How long a right password is remembered after its last use, in milliseconds; with 0 it is not remembered. Default: 3,600,000, an
   * hour.
   */
  readonly rememberMs?: number
  /** A clock in milliseconds that never goes back. Default: `performance.now`. */
  readonly now?: () => number
}

const maxRemembered = 10_000

/**
 * `verify` with a memory for right passwords: for `rememberMs`, a password that was right for a hash is accepted without a call of
 * `verify`. Wrong passwords are not remembered. The memory holds keyed digests of password and hash.
 */
export function rememberPasswords(
  verify: PasswordVerifier,
  options: RememberOptions = {},
): PasswordVerifier {
  const remembered = createMemory(options)
  const digest = createPairDigest()

  const verifyAnew = async (key: string, ...verification: Parameters<PasswordVerifier>) => {
    const isRight = await verify(...verification)
    if (isRight) remembered.add(key)
    return isRight
  }

  return (password, passwordHash, options) => {
    // An unknown customer never authenticates, but takes the same steps.
    const key = digest(password, passwordHash ?? unknownCustomer)
    return remembered.has(key) || verifyAnew(key, password, passwordHash, options)
  }
}

/** Used in place of a hash; as long as one. */
const unknownCustomer = '-'.repeat(88)

function createMemory({ rememberMs = 3_600_000, now }: RememberOptions) {
  // For the cache, a time to live of 0 would mean forever.
  if (rememberMs <= 0) return { has: () => false, add: () => {} }
  const cache = new LRUCache<string, true>({
    max: maxRemembered,
    ttl: rememberMs,
    ttlResolution: 0,
    updateAgeOnGet: true,
    ...(now && { perf: { now } }),
  })
  return {
    has: (key: string) => cache.get(key) === true,
    add: (key: string) => void cache.set(key, true),
  }
}

/**
 * Makes a function that digests a password together with its hash. Hashes contain no NUL, so different pairs have different inputs.
 * The digests do not leave the process, so a key as prefix is as good as an HMAC, and takes a tenth of its time.
 */
export function createPairDigest(): (password: string, passwordHash: string) => string {
  const key = randomBytes(32).toString('base64')
  return (password, passwordHash) => hash('sha256', `${key}${passwordHash}\0${password}`, 'base64')
}
