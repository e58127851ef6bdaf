export { closestWord } from './customers/closest-word.ts'
export { CustomersFileError, type CustomersFileProblem } from './customers/customers-file-error.ts'
export { describeDenial } from './describe-denial.ts'
export { editCustomersFile } from './edit-customers-file.ts'
export {
  openCustomersFile,
  type CustomersFile,
  type NewCustomerFields,
} from './open-customers-file.ts'
export {
  openFileCredentialSource,
  type FileCredentialSource,
  type FileCredentialSourceOptions,
  type ReloadSummary,
} from './open-file-credential-source.ts'
export { parseByteSize } from './parse-byte-size.ts'
export type { ComputeScrypt } from './passwords/compute-scrypt.ts'
export {
  createPasswordVerifier,
  type PasswordVerifierOptions,
} from './passwords/create-password-verifier.ts'
export { generatePassword } from './passwords/generate-password.ts'
export { hashPassword } from './passwords/hash-password.ts'
export { rememberPasswords, type RememberOptions } from './passwords/remember-passwords.ts'
export { standardScryptCost, type ScryptCost } from './passwords/scrypt-cost.ts'
export { programName } from './program-name.ts'
export { watchPaths, type PathsWatch, type WatchPathsOptions } from './watch-paths.ts'
