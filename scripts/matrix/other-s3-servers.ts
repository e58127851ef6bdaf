import { knownFailures, type S3ServerKind } from '../../packages/testing/src/s3-servers.ts'

/** The S3 servers other than MinIO that the contract runs on. */
export const otherS3Servers = Object.keys(knownFailures) as S3ServerKind[]
