export {
  createFileService,
  type FileLinks,
  type FileService,
  type FileServiceOptions,
  type LinkServiceOptions,
} from './file-service.ts'
export type { AppendUploadOptions } from './use-cases/append-upload.ts'
export type { Login } from './use-cases/authenticate.ts'
export type { BeginOptions, UploadWholeOptions } from './use-cases/begin-upload.ts'
export type { CustomerFiles } from './use-cases/customer-files.ts'
export type { ExpectedDigest, IncrementalHash } from './use-cases/expected-digest.ts'
export type { ExpireOptions, ExpiryOutcome, NoteOutcome } from './use-cases/expire-files.ts'
export type { FinishedUpload } from './use-cases/finish-upload.ts'
export {
  isVersion,
  type FileHistory,
  type PurgeOutcome,
  type RestoreOptions,
} from './use-cases/kept-files.ts'
export type {
  CreateLinkSignature,
  Link,
  LinkOptions,
  LinkSignature,
  OpenedLink,
  PresentedLink,
} from './use-cases/links.ts'
export type { PublishOptions, ResumableFiles } from './use-cases/resumable-files.ts'
export type { UploadOptions } from './use-cases/upload-file.ts'
export type { LinkUploads, UploadLinkOptions } from './use-cases/upload-links.ts'
export { usageOf, type CustomerUsage } from './use-cases/usage-of.ts'
export {
  abortable,
  countOf,
  createKeyedCounter,
  createKeyedLock,
  createRevocableLocks,
  type HeldLock,
  type KeyedCounter,
  type KeyedLock,
  type RevocableLocks,
  type UseCount,
  type UseCounter,
} from './model/concurrency.ts'
export {
  hasRights,
  isLimited,
  loginName,
  requireRights,
  rightSets,
  rightsProblem,
  splitLoginName,
  type Customer,
} from './model/customer.ts'
export {
  errorCodes,
  FileServiceError,
  isFileServiceError,
  nameTaken,
  type ErrorCode,
  type FileServiceErrorOptions,
} from './model/errors.ts'
export type { Deleted, FileHooks, Renamed, Restored, Served, Uploaded } from './model/file-hooks.ts'
export {
  checkFileName,
  maxNameBytes,
  nameProblem,
  compareUtf8,
  sortUtf8,
} from './model/file-name.ts'
export {
  having,
  oneOf,
  requireBytes,
  requireCount,
  requireFlag,
  requireFunction,
  requireOptions,
  requireText,
  requireTexts,
  type OptionCheck,
} from './model/require.ts'
export type {
  UploadContent,
  WebBlob,
  WebResponse,
  WebStream,
  WebStreamReader,
} from './model/upload-content.ts'
export {
  createPublishedUploads,
  createUploadQueue,
  expiryWhenFullMs,
  mostPublished,
  requireComplete,
  requireLength,
  requireOffset,
  uploadConflict,
  uploadNotFound,
  uploadPublished,
  uploadTakenOver,
  type PublishedUpload,
  type PublishedUploads,
  type UploadQueue,
} from './model/upload-rules.ts'
export {
  createLinkBrake,
  type LinkBrake,
  type LinkBrakeOptions,
  type LinkVerdict,
  createLoginBrake,
  type LoginAttempt,
  type LoginBrake,
  type LoginBrakeOptions,
} from './policy/brakes.ts'
export {
  countUsage,
  createStagedBytes,
  difference,
  sum,
  uploadsExceeded,
  type Amount,
  type ClaimTerms,
  type KeptChange,
  type Limits,
  type QuotaAccount,
  type QuotaAccounts,
  type QuotaAccountsOptions,
  type SharedAccount,
  type StagedBytes,
} from './policy/quota-accounts.ts'
export type { LocalClaim, QuotaClaim } from './policy/quota-claim.ts'
export {
  createQuotaKeeper,
  noClaim,
  createUploadCounter,
  type LocalQuotaKeeper,
  type QuotaKeeper,
  type QuotaKeeperOptions,
  type SharedQuotas,
  type UploadCounter,
} from './policy/quota-keeper.ts'
export type { BlobStore, PutOptions } from './ports/blob-store.ts'
export {
  resolveRange,
  type BlobInfo,
  type BlobKey,
  type ByteRange,
  type KeepOptions,
  type ListOptions,
  type OpenBlob,
  type OpenOptions,
  type RangeRequest,
  type RenameOptions,
  type Usage,
} from './ports/blob.ts'
export {
  rights,
  type Credential,
  type CredentialSource,
  type PasswordVerifier,
  type Right,
  type VerificationOptions,
} from './ports/credential-source.ts'
export type { FailureCount, FailureCounter } from './ports/failure-counter.ts'
export type {
  AppendOptions,
  ResumableUpload,
  ResumableUploads,
  UploadKey,
  UploadPlan,
} from './ports/resumable-uploads.ts'
export type {
  Expiry,
  History,
  KeptBlob,
  KeptKey,
  LinkGenerations,
  VersionOptions,
} from './ports/store-capabilities.ts'
export {
  advice,
  adviceOf,
  adviceText,
  asSentence,
  carriesAdvice,
  closestWord,
  finding,
  formatBytes,
  isLoopbackHost,
  messageOf,
  parseByteSize,
  parseKeepReplaced,
  rangeErrorOf,
  SetupError,
  type Advice,
  type Finding,
  type FindingMark,
} from './setup.ts'
