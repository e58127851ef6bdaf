import { hash, hkdfSync } from 'node:crypto'
import { computeScrypt } from './compute-scrypt.ts'
import { type ScryptCost, standardScryptCost } from './scrypt-hash.ts'

const label = 'holdfast link key 1'
const keyLength = 32

/** As long as a hash. */
const unknownCustomer = '-'.repeat(88)

/**
 * The key for links of the customer called `name`, as a `CredentialSource` gives it, from the hash of the password (HKDF, RFC
 * 5869). Whoever knows the hash has the key; nothing follows from the key. `undefined`, after the same steps, where there is no
 * hash, since there is no such customer.
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
 * The same from a password in plain text, of which there is no hash that all servers have. It takes a computation of scrypt, and
 * so does each guess of those who have a link.
 */
export function linkKeyOfPassword(
  name: string,
  password: string,
  cost: ScryptCost = standardScryptCost,
): Promise<Uint8Array> {
  return computeScrypt(password, Buffer.from(`${label} ${name}`), keyLength, cost)
}

/** Names may be longer than what HKDF takes beside the hash. */
function fingerprint(name: string): Buffer {
  return hash('sha256', name, 'buffer')
}
