import { hash, randomBytes } from 'node:crypto'

/**
 * Makes a digest of a password and its hash together; hashes contain no NUL, so that pairs cannot collide. Digests do not
 * leave the process, so that a key as prefix is as good as an HMAC, in a tenth of its time.
 */
export function createPairDigest(): (password: string, passwordHash: string) => string {
  const key = randomBytes(32).toString('base64')
  return (password, passwordHash) => hash('sha256', `${key}${passwordHash}\0${password}`, 'base64')
}
