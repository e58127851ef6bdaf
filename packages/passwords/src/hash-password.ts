import { randomBytes, createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { requireText } from '@holdfast/core'
import { computeScrypt } from './compute-scrypt.ts'
import {
  formatScryptHash,
  type ScryptCost,
  scryptCostProblem,
  standardScryptCost,
} from './scrypt-hash.ts'

/**
 * Hashes a password with scrypt and a new salt, off the caller's thread; resolves to a PHC string that the customers
 * file and the verifier understand. Default cost: {@link standardScryptCost}.
 *
 * @throws TypeError for a password that is no string, RangeError for an empty password, which cannot log in, and for a cost out of bounds.
 */
export async function hashPassword(
  password: string,
  cost: ScryptCost = standardScryptCost,
): Promise<string> {
  requireText('The password', password)
  if (password === '') throw new RangeError('The password is empty')
  const problem = scryptCostProblem(cost)
  if (problem !== undefined) throw new RangeError(`The scrypt cost is unacceptable: ${problem}`)
  const salt = randomBytes(16)
  return formatScryptHash({ cost, salt, hash: await computeScrypt(password, salt, 32, cost) })
}

/**
 * A new random password of 24 characters out of `A-Z a-z 0-9 - _`, more than 140 bits. It begins and ends with a letter
 * or a digit, so that no command takes it for an option and a double click selects it whole.
 */
export function generatePassword(): string {
  for (;;) {
    const password = randomBytes(18).toString('base64url')
    if (/^[a-z0-9].*[a-z0-9]$/i.test(password)) return password
  }
}

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
