import { randomBytes, createHash, createHmac, timingSafeEqual, hash, hkdfSync } from 'node:crypto'
import { requireText } from '@holdfast/core'
import {
  computeScrypt,
  formatScryptHash,
  type ScryptCost,
  scryptCostProblem,
  standardScryptCost,
} from './compute-scrypt.ts'

/**
 * Hashes a password with scrypt and a new salt, outside the caller's thread; resolves with a PHC string for the customers file and
 * the verifier. Default cost: {@link standardScryptCost}.
 *
 * @throws TypeError for a password that is not a string; RangeError for an empty password, which cannot log in, and for a cost
 *   beyond the limits.
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
 * A new random password of 24 characters of `A-Z a-z 0-9 - _`, with more than 140 random bits. It begins and ends with a letter or a
 * digit, so that no command takes it as an option, and a double click selects all of it.
 */
export function generatePassword(): string {
  for (;;) {
    const password = randomBytes(18).toString('base64url')
    if (/^[a-z0-9].*[a-z0-9]$/i.test(password)) return password
  }
}

/** The beginning of a sealed plain-text password in memory; no password or hash in a file may begin with it. */
const prefix = '$holdfast-plain$'

// Salts are derived from the password with a key of this process, so that the same entry gives the same string at each reading, and
// a reload sees only real changes. In other processes the strings are meaningless.
const saltKey = randomBytes(32)

/** Turns a plain-text password into a string that the verifier understands and that does not reveal the password. */
export function sealPlainPassword(password: string): string {
  const salt = createHmac('sha256', saltKey).update(password, 'utf8').digest().subarray(0, 16)
  return `${prefix}${salt.toString('base64url')}$${digest(password, salt).toString('base64url')}`
}

/** Whether {@link sealPlainPassword} made `passwordHash`. */
export function isSealedPlainPassword(passwordHash: string): boolean {
  return passwordHash.startsWith(prefix)
}

/**
 * Whether {@link sealPlainPassword} made `sealed` from this password. This is fast: the caller must take as long as for a hash.
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

const label = 'holdfast link key 1'
const keyLength = 32

/** Used in place of a hash; as long as one. */
const unknownCustomer = '-'.repeat(88)

/**
 * The key for links of the customer called `name`, for `CredentialSource.linkKey`, derived from the hash of the password (HKDF, RFC
 * 5869). The key follows from the hash, but reveals nothing about it. Without a hash there is no such customer: the result is
 * `undefined`, after the same steps.
 */
export function linkKeyOfHash(
  name: string,
  passwordHash: string | undefined,
): Uint8Array | undefined {
  const key = hkdfSync(
    'sha256',
    passwordHash ?? unknownCustomer,
    '',
    Buffer.concat([Buffer.from(label), fingerprint(name)]),
    keyLength,
  )
  return passwordHash === undefined ? undefined : new Uint8Array(key)
}

/**
 * The key from a password in plain text, which has no hash that all servers share. It costs one computation of scrypt, and so does
 * each guess of the password from a link.
 */
export function linkKeyOfPassword(
  name: string,
  password: string,
  cost: ScryptCost = standardScryptCost,
): Promise<Uint8Array> {
  return computeScrypt(password, Buffer.from(`${label} ${name}`), keyLength, cost)
}

/** A digest of `name`: names may be too long for HKDF. */
function fingerprint(name: string): Buffer {
  return hash('sha256', name, 'buffer')
}
