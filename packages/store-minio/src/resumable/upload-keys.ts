import { hash, randomBytes } from 'node:crypto'
import type { UploadKey, PublishedUploads } from '@holdfast/core'
import type { S3Client } from '@aws-sdk/client-s3'
import type { GetClient } from '../http/get-client.ts'
import type { ObjectKeys } from '../keys/object-keys.ts'
import type { KeptObjects } from '../read/get-object.ts'
import type { OwnObjects } from '../write/own-objects.ts'
import type { BufferBudget } from '../write/parts.ts'
import type { Removals } from '../write/removals.ts'

/** The keys of the objects of unfinished uploads. */
export interface UploadKeys {
  /** The beginning of the keys of all records, or of one customer's. */
  recordsPrefix(customer?: string): string
  recordKey(upload: UploadKey): string
  /** The beginning of the keys of all parts, or of one upload's. */
  partsPrefix(upload?: UploadKey): string
  /** The key of the record for an object below `partsPrefix()`; `undefined` for objects of others. */
  recordOfPart(key: string): string | undefined
}

/**
 * No blob and no customer has a key below this folder: names have no control character. DEL is the only one that XML 1.0 allows, so
 * servers list the keys unchanged. Administrators see `uploads/`.
 */
const folder = '\u007fuploads/'

/**
 * Records and parts have folders of their own: on servers that store objects as files, no key may be both a file and a folder. Customers
 * appear by their SHA-256, which is short and plain for every name.
 */
export function createUploadKeys(prefix: string): UploadKeys {
  const [records, parts] = [`${prefix}${folder}records/`, `${prefix}${folder}parts/`]
  const within = (base: string, { customer, id }: UploadKey) => `${base}${digest(customer)}/${id}`
  return {
    recordsPrefix: (customer) => records + (customer === undefined ? '' : `${digest(customer)}/`),
    recordKey: (upload) => within(records, upload),
    partsPrefix: (upload) => (upload === undefined ? parts : `${within(parts, upload)}/`),
    recordOfPart: (key) => {
      const [customer = '', id = '', ...rest] = key.slice(parts.length).split('/')
      return rest.length === 1 && isUploadId(id) ? `${records}${customer}/${id}` : undefined
    },
  }
}

function digest(customer: string): string {
  return hash('sha256', customer)
}

/** An id: 128 random bits in base64url, then the milliseconds to the expiry, so that a sweep need not read young records. */
export function createUploadId(expiresAfterMs: number): string {
  return `${randomBytes(16).toString('base64url')}-${Math.ceil(expiresAfterMs).toString(36)}`
}

/** Whether `id` is valid by the port: others must not become keys. */
export function isUploadId(id: string): boolean {
  return /^[\w-]{16,64}$/.test(id)
}

/** Milliseconds after its last change at which the upload `id` expires; `undefined` for an id of another kind of store. */
export function expiresAfterMsOf(id: string): number | undefined {
  const [, time] = /^[\w-]{22}-([0-9a-z]{1,11})$/.exec(id) ?? []
  return time === undefined ? undefined : Number.parseInt(time, 36)
}

/** What uploads in pieces need of their store. */
export interface UploadObjects {
  readonly s3: S3Client
  /** For requests that make or remove an object: does not repeat those that the server may have carried out. */
  readonly changing: S3Client
  readonly gets: GetClient
  /** Empty: records change all the time, and parts are read once. */
  readonly kept: KeptObjects
  readonly bucket: string
  readonly keys: ObjectKeys
  readonly uploadKeys: UploadKeys
  readonly removals: Removals
  /** Removes records and parts. */
  readonly own: OwnObjects
  readonly budget: BufferBudget
  /** The ids of the multipart uploads of this process, which the sweep of multipart uploads spares. */
  readonly underWay: Set<string>
  /** The published uploads that this process knows. */
  readonly published: PublishedUploads
  /** Milliseconds for which no sweep aborts a multipart upload. */
  readonly sparedForMs: number
  readonly log: { warn(message: string): void }
}
