export {
  type BlobStoreHarness,
  type BlobStoreTest,
  globalRunner,
  type SuiteOptions,
  type SuiteRunner,
} from './support/suite.ts'
export { absence, naming } from './blob-store/names/naming.ts'
export { chunksOfBytes, streaming } from './blob-store/content/streaming.ts'
export { createOnly } from './blob-store/changes/create-only.ts'
export { customers, isolation, usage } from './blob-store/names/customers.ts'
export {
  fullStore,
  unreachableStore,
  interruptedWrites,
} from './blob-store/changes/interrupted-writes.ts'
export { listing } from './blob-store/names/listing.ts'
export { overwriting, sharing } from './blob-store/changes/overwriting.ts'
export { ranges } from './blob-store/content/ranges.ts'
export { roundTrip } from './blob-store/content/round-trip.ts'
export { describeBlobStore, type BlobStoreSuiteOptions } from './describe-blob-store.ts'
export {
  describeCredentialSource,
  type CredentialSourceHarness,
  type CredentialSourceSuiteOptions,
} from './describe-credential-source.ts'
export { describeExpiry, type ExpirySuiteOptions } from './describe-expiry.ts'
export { describeHistory, type HistorySuiteOptions } from './describe-history.ts'
export { describeFailureCounter, type FailureCounterHarness } from './describe-failure-counter.ts'
export {
  describeLinkGenerations,
  type LinkGenerationsSuiteOptions,
} from './describe-link-generations.ts'
export {
  describePasswordVerifier,
  type PasswordVerifierHarness,
} from './describe-password-verifier.ts'
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
export {
  describeUseCounter,
  type UseCounterHarness,
  type UseCounterSuiteOptions,
} from './describe-use-counter.ts'
export { nastyNames } from './support/nasty-names.ts'
