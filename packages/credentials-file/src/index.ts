// Exported for programs that were written before `@holdfast/passwords` existed.
export {
  createPasswordVerifier,
  generatePassword,
  hashPassword,
  rememberPasswords,
  standardScryptCost,
  type ComputeScrypt,
  type PasswordVerifierOptions,
  type RememberOptions,
  type ScryptCost,
} from '@holdfast/passwords'
export { CustomersFileError, type CustomersFileProblem } from './customers/customers-file-error.ts'
export {
  headerProblem,
  describeDenial,
  programName,
  parseReceiver,
  parseWebhookSecrets,
  type CustomerWebhook,
} from './messages.ts'
export { editCustomersFile, openCustomersFile, type CustomersFile } from './open-customers-file.ts'
export type { ChangedCustomerFields, NewCustomerFields } from './customers/customer-fields.ts'
export {
  openFileCredentialSource,
  type FileCredentialSource,
  type FileCredentialSourceOptions,
  type ReloadSummary,
} from './open-file-credential-source.ts'
export {
  openWatchedFiles,
  type Reading,
  type Refusal,
  type WatchedFiles,
  type WatchedFilesOptions,
} from './open-watched-files.ts'
