import type { S3Client } from '@aws-sdk/client-s3'
import type { PublishedUploads } from '@holdfast/core'
import type { GetClient } from '../http/get-client.ts'
import type { ObjectKeys } from '../keys/object-keys.ts'
import type { KeptObjects } from '../read/kept-objects.ts'
import type { BufferBudget } from '../write/part-buffers.ts'
import type { Removals } from '../write/removals.ts'
import type { UploadKeys } from './upload-keys.ts'

/** What all work on uploads in pieces needs of the store that they are in. */
export interface UploadObjects {
  readonly s3: S3Client
  /** For requests that make or remove an object: does not repeat them where they may have been carried out. */
  readonly changing: S3Client
  readonly gets: GetClient
  /** Empty: records change all the time, and parts are read once. */
  readonly kept: KeptObjects
  readonly bucket: string
  readonly keys: ObjectKeys
  readonly uploadKeys: UploadKeys
  readonly removals: Removals
  readonly budget: BufferBudget
  /** The ids of the multipart uploads of this process, which the sweep of multipart uploads spares. */
  readonly underWay: Set<string>
  /** What this process knows of published uploads. */
  readonly published: PublishedUploads
  /** Milliseconds for which no sweep aborts a multipart upload. */
  readonly sparedForMs: number
  readonly log: { warn(message: string): void }
}
