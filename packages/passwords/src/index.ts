export type { ComputeScrypt } from './compute-scrypt.ts'
export { createPasswordVerifier, type PasswordVerifierOptions } from './create-password-verifier.ts'
export { generatePassword, hashPassword, sealPlainPassword } from './hash-password.ts'
export {
  createHashingQueue,
  type HashingQueue,
  type HashingQueueOptions,
  type HashingRequest,
} from './hashing-queue.ts'
export { linkKeyOfHash, linkKeyOfPassword } from './link-key.ts'
export { rememberPasswords, type RememberOptions } from './create-password-verifier.ts'
export {
  isSameScryptCost,
  standardScryptCost,
  type ScryptCost,
  parseScryptHash,
  type ScryptHash,
} from './compute-scrypt.ts'
