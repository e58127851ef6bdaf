import { hash, hkdfSync } from 'node:crypto'
import { computeScrypt, type ScryptCost, standardScryptCost } from './compute-scrypt.ts'
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
