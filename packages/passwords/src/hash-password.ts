import { randomBytes } from 'node:crypto'
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
