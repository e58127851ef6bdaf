// It compares the times of hashes.
import { randomBytes } from 'node:crypto'
import { describePasswordVerifier } from '@holdfast/contract'
import { computeScrypt, type ScryptCost, formatScryptHash } from '../src/compute-scrypt.ts'
import { createPasswordVerifier } from '../src/create-password-verifier.ts'
const cost: ScryptCost = { ln: 14, r: 8, p: 1 }

// `hashPassword` refuses the empty password; a verifier must know it all the same.
const hash = async (password: string) => {
  const salt = randomBytes(16)
  return formatScryptHash({ cost, salt, hash: await computeScrypt(password, salt, 32, cost) })
}

describePasswordVerifier('createPasswordVerifier', async () => ({
  verify: createPasswordVerifier({ cost, queueLimit: 16 }),
  hash,
  dispose: async () => {},
}))
