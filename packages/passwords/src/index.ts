export {
  type ComputeScrypt,
  isSameScryptCost,
  standardScryptCost,
  type ScryptCost,
  parseScryptHash,
  type ScryptHash,
} from './compute-scrypt.ts'
export {
  createPasswordVerifier,
  type PasswordVerifierOptions,
  rememberPasswords,
  type RememberOptions,
} from './create-password-verifier.ts'
export {
  generatePassword,
  hashPassword,
  sealPlainPassword,
  linkKeyOfHash,
  linkKeyOfPassword,
} from './hash-password.ts'
export {
  createHashingQueue,
  type HashingQueue,
  type HashingQueueOptions,
  type HashingRequest,
} from './hashing-queue.ts'
