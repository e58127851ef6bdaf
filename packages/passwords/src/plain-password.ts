import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a plain-text password of the file becomes in memory; no password or hash in a file may begin with it. */
const prefix = '$holdfast-plain$'

// Salts are derived from the password with a key of this process. The same entry gives the same string at each reading,
// so that a reload sees what has changed; outside this process the strings mean nothing.
const saltKey = randomBytes(32)

/** Makes of a plain-text password a string that the verifier understands and that does not show the password. */
export function sealPlainPassword(password: string): string {
  const salt = createHmac('sha256', saltKey).update(password, 'utf8').digest().subarray(0, 16)
  return `${prefix}${salt.toString('base64url')}$${digest(password, salt).toString('base64url')}`
}

/** Whether {@link sealPlainPassword} made `passwordHash`. */
export function isSealedPlainPassword(passwordHash: string): boolean {
  return passwordHash.startsWith(prefix)
}

/**
 * Whether {@link sealPlainPassword} made `sealed` of this password. Quick: the caller must take as long as a hash would.
 */
export function matchesSealedPassword(password: string, sealed: string): boolean {
  const [salt = '', expected = ''] = sealed.slice(prefix.length).split('$')
  const given = digest(password, Buffer.from(salt, 'base64url'))
  const wanted = Buffer.from(expected, 'base64url')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function digest(password: string, salt: Uint8Array): Buffer {
  return createHash('sha256').update(salt).update(password, 'utf8').digest()
}
