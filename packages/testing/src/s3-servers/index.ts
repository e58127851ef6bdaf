export { describeWithS3Server } from './describe-with-s3-server.ts'
export { knownFailures, type S3ServerKind } from './known-failures.ts'
export type { RunningS3Server } from './start-s3-server.ts'
