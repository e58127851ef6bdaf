import type { S3Client } from '@aws-sdk/client-s3'

/** Where an object is, or is to be. */
export interface ObjectPlace {
  readonly s3: S3Client
  readonly bucket: string
  readonly key: string
}
