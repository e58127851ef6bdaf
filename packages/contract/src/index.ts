export type { BlobStoreHarness, BlobStoreTest } from './support/blob-store-harness.ts'
export { absence } from './blob-store/absence.ts'
export { chunksOfBytes } from './blob-store/chunks-of-bytes.ts'
export { createOnly } from './blob-store/create-only.ts'
export { customers } from './blob-store/customers.ts'
export { fullStore, unreachableStore } from './blob-store/failures.ts'
export { interruptedWrites } from './blob-store/interrupted-writes.ts'
export { isolation } from './blob-store/isolation.ts'
export { listing } from './blob-store/listing.ts'
export { naming } from './blob-store/naming.ts'
export { overwriting } from './blob-store/overwriting.ts'
export { ranges } from './blob-store/ranges.ts'
export { roundTrip } from './blob-store/round-trip.ts'
export { sharing } from './blob-store/sharing.ts'
export { streaming } from './blob-store/streaming.ts'
export { usage } from './blob-store/usage.ts'
export { describeBlobStore, type BlobStoreSuiteOptions } from './describe-blob-store.ts'
export {
  describeCredentialSource,
  type CredentialSourceHarness,
  type CredentialSourceSuiteOptions,
} from './describe-credential-source.ts'
export { describeFailureCounter, type FailureCounterHarness } from './describe-failure-counter.ts'
export {
  describePasswordVerifier,
  type PasswordVerifierHarness,
} from './describe-password-verifier.ts'
export { nastyNames } from './support/nasty-names.ts'
export { globalRunner, type SuiteOptions, type SuiteRunner } from './support/suite-runner.ts'
