import { hash, randomBytes } from 'node:crypto'

/**
 * Makes a digest of a password and its hash together; hashes hold no NUL, so no two pairs run into one another. Nobody
 * gets to see digests, so that a key in front is as good as an HMAC, at a tenth of its time.
 */
export function createPairDigest(): (password: string, passwordHash: string) => string {
  const key = randomBytes(32).toString('base64')
  return (password, passwordHash) => hash('sha256', `${key}${passwordHash}\0${password}`, 'base64')
}
