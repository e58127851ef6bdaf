export {
  type BlobStoreHarness,
  type BlobStoreTest,
  globalRunner,
  type SuiteOptions,
  type SuiteRunner,
} from './support/suite.ts'
export { absence, naming, customers, isolation, usage } from './blob-store/names.ts'
export { chunksOfBytes, streaming } from './blob-store/streaming.ts'
export { createOnly, overwriting, sharing } from './blob-store/overwriting.ts'
export { fullStore, unreachableStore, interruptedWrites } from './blob-store/interrupted-writes.ts'
export { listing } from './blob-store/listing.ts'
export { ranges, roundTrip } from './blob-store/reading.ts'
export { describeBlobStore, type BlobStoreSuiteOptions } from './describe-blob-store.ts'
export {
  describeCredentialSource,
  type CredentialSourceHarness,
  type CredentialSourceSuiteOptions,
  describePasswordVerifier,
  type PasswordVerifierHarness,
} from './describe-logins.ts'
export { describeExpiry, type ExpirySuiteOptions } from './describe-expiry.ts'
export { describeHistory, type HistorySuiteOptions } from './describe-history.ts'
export {
  describeFailureCounter,
  type FailureCounterHarness,
  describeUseCounter,
  type UseCounterHarness,
  type UseCounterSuiteOptions,
} from './describe-counters.ts'
export {
  describeLinkGenerations,
  type LinkGenerationsSuiteOptions,
} from './describe-link-generations.ts'
export { describeQuotaKeeper, type QuotaKeeperHarness } from './describe-quota-keeper.ts'
export { describeRenaming, type RenamingSuiteOptions } from './describe-renaming.ts'
export {
  describeResumableUploads,
  type ResumableUploadsSuiteOptions,
} from './describe-resumable-uploads.ts'
export {
  describeRevocableLocks,
  type RevocableLocksHarness,
  type RevocableLocksSuiteOptions,
} from './describe-revocable-locks.ts'
export { nastyNames } from './support/nasty-names.ts'
