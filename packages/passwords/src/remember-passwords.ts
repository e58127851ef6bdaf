import type { PasswordVerifier } from '@holdfast/core'
import { LRUCache } from 'lru-cache'
import { hash, randomBytes } from 'node:crypto'

export interface RememberOptions {
  /**
   * How long a right password is remembered, in milliseconds since it was last used; 0 for not at all. Default:
   * 3,600,000, an hour.
   */
  readonly rememberMs?: number
  /** A clock in milliseconds that never goes back. Default: `performance.now`. */
  readonly now?: () => number
}

const maxRemembered = 10_000

/**
 * `verify` with a memory for right passwords: a password that was right for a hash is accepted without a call for
 * `rememberMs`. Wrong passwords are not remembered. The memory holds keyed digests of password and hash.
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

/** As long as a hash. */
const unknownCustomer = '-'.repeat(88)

function createMemory({ rememberMs = 3_600_000, now }: RememberOptions) {
  // To the cache, a time to live of 0 means for ever.
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
 * Makes a digest of a password and its hash together; hashes contain no NUL, so that pairs cannot collide. Digests do not
 * leave the process, so that a key as prefix is as good as an HMAC, in a tenth of its time.
 */
export function createPairDigest(): (password: string, passwordHash: string) => string {
  const key = randomBytes(32).toString('base64')
  return (password, passwordHash) => hash('sha256', `${key}${passwordHash}\0${password}`, 'base64')
}
