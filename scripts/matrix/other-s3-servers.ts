import { knownFailures, type S3ServerKind } from '../../packages/s3-servers/src/known-failures.ts'

/** The S3 servers other than MinIO that the contract runs on. */
export const otherS3Servers = Object.keys(knownFailures) as S3ServerKind[]
