import { hash, randomBytes } from 'node:crypto'
import type { PasswordVerifier } from '@holdfast/core'
import { LRUCache } from 'lru-cache'

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
