import { hashPassword } from '../src/hash-password.ts'
import type { ScryptCost } from '../src/scrypt-cost.ts'

/** So little that a test may hash as much as it likes. */
export const cheapCost: ScryptCost = { ln: 4, r: 8, p: 1 }

export const cheapHash = (password: string) => hashPassword(password, cheapCost)
