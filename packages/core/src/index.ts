export {
  errorCodes,
  FileServiceError,
  isFileServiceError,
  type ErrorCode,
  type FileServiceErrorOptions,
} from './model/errors.ts'
export {
  createFileService,
  type FileLinks,
  type FileService,
  type FileServiceOptions,
  type LinkServiceOptions,
} from './file-service.ts'
export {
  abortable,
  countOf,
  createKeyedCounter,
  type KeyedCounter,
  type UseCount,
  type UseCounter,
  createKeyedLock,
  type KeyedLock,
  createRevocableLocks,
  type RevocableLocks,
  type HeldLock,
} from './model/concurrency.ts'
export type {
  Expiry,
  History,
  KeptBlob,
  KeptKey,
  VersionOptions,
  LinkGenerations,
} from './ports/store-capabilities.ts'
export type { ExpireOptions, ExpiryOutcome } from './use-cases/expire-files.ts'
export {
  type KeepOptions,
  resolveRange,
  type ByteRange,
  type RangeRequest,
  type BlobInfo,
  type BlobKey,
  type ListOptions,
  type OpenBlob,
  type OpenOptions,
  type RenameOptions,
  type Usage,
} from './ports/blob.ts'
export {
  isVersion,
  type FileHistory,
  type RestoreOptions,
  type PurgeOutcome,
} from './use-cases/kept-files.ts'
export {
  isLimited,
  loginName,
  splitLoginName,
  type Customer,
  hasRights,
  requireRights,
  rightSets,
  rightsProblem,
} from './model/customer.ts'
export type { Deleted, FileHooks, Renamed, Restored, Served, Uploaded } from './model/file-hooks.ts'
export { checkFileName, maxNameBytes, nameProblem } from './model/file-name.ts'
export {
  createLinkBrake,
  type LinkBrake,
  type LinkBrakeOptions,
  type LinkVerdict,
} from './policy/link-brake.ts'
export {
  createLoginBrake,
  type LoginAttempt,
  type LoginBrake,
  type LoginBrakeOptions,
} from './policy/login-brake.ts'
export {
  countUsage,
  createStagedBytes,
  difference,
  sum,
  type Amount,
  type ClaimTerms,
  type KeptChange,
  type Limits,
  type QuotaAccount,
  type QuotaAccounts,
  type QuotaAccountsOptions,
  type SharedAccount,
  type StagedBytes,
  uploadsExceeded,
} from './policy/quota-accounts.ts'
export type { LocalClaim, QuotaClaim } from './policy/quota-claim.ts'
export {
  createQuotaKeeper,
  createUploadCounter,
  type LocalQuotaKeeper,
  type QuotaKeeper,
  type QuotaKeeperOptions,
  type SharedQuotas,
  type UploadCounter,
} from './policy/quota-keeper.ts'
export {
  requireBytes,
  requireCount,
  having,
  oneOf,
  requireFlag,
  requireFunction,
  requireOptions,
  requireText,
  requireTexts,
  type OptionCheck,
} from './model/require.ts'

export {
  uploadConflict,
  uploadNotFound,
  uploadPublished,
  uploadTakenOver,
  expiryWhenFullMs,
  requireComplete,
  requireLength,
  requireOffset,
  createUploadQueue,
  type UploadQueue,
  createPublishedUploads,
  mostPublished,
  type PublishedUpload,
  type PublishedUploads,
} from './model/upload-rules.ts'
export type {
  UploadContent,
  WebBlob,
  WebResponse,
  WebStream,
  WebStreamReader,
} from './model/upload-content.ts'
export { compareUtf8, sortUtf8 } from './model/utf8-order.ts'
export type { BlobStore, PutOptions } from './ports/blob-store.ts'
export { rights, type Right } from './ports/credential-source.ts'
export type {
  Credential,
  CredentialSource,
  PasswordVerifier,
  VerificationOptions,
} from './ports/credential-source.ts'
export type { FailureCount, FailureCounter } from './ports/failure-counter.ts'
export type {
  AppendOptions,
  ResumableUpload,
  ResumableUploads,
  UploadKey,
  UploadPlan,
} from './ports/resumable-uploads.ts'
export {
  advice,
  adviceOf,
  adviceText,
  asSentence,
  carriesAdvice,
  rangeErrorOf,
  type Advice,
  SetupError,
  finding,
  type Finding,
  type FindingMark,
  closestWord,
  formatBytes,
  parseByteSize,
  parseKeepReplaced,
  isLoopbackHost,
} from './setup.ts'
export type { CustomerFiles } from './use-cases/customer-files.ts'
export type { AppendUploadOptions } from './use-cases/append-upload.ts'
export type { Login } from './use-cases/authenticate.ts'
export type { BeginOptions, UploadWholeOptions } from './use-cases/begin-upload.ts'
export type { ExpectedDigest, IncrementalHash } from './use-cases/expected-digest.ts'
export type {
  CreateLinkSignature,
  LinkSignature,
  Link,
  PresentedLink,
  LinkOptions,
  OpenedLink,
} from './use-cases/links.ts'
export type { FinishedUpload } from './use-cases/finish-upload.ts'
export type { PublishOptions, ResumableFiles } from './use-cases/resumable-files.ts'
export type { UploadOptions } from './use-cases/upload-file.ts'
export type { UploadLinkOptions, LinkUploads } from './use-cases/upload-links.ts'
export { usageOf, type CustomerUsage } from './use-cases/usage-of.ts'
