import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import {
  isFileServiceError,
  uploadConflict,
  type FileServiceError,
  type BlobInfo,
  type ResumableUpload,
  type UploadPlan,
} from '@holdfast/core'
import { pauseBeforeRepeating, isAnswer, mayBeDone, translateError } from '../http/s3-errors.ts'
import { readBlob } from '../read/read-blob.ts'
import type { UploadObjects } from './upload-keys.ts'

/** A record as it was read or written. */
export interface StoredRecord {
  /** The key of the object. */
  readonly key: string
  /** In quotes. */
  readonly etag: string
  readonly record: UploadRecord
}

/** A record without what {@link replaceRecord} gives it. */
export type NextRecord = Omit<UploadRecord, 'revision' | 'changedAt'>

/** How often others may change an upload while this process tries to change it. */
export const mostAttempts = 5

/** The error if they did so each time. */
export function changesAllTheTime(): FileServiceError {
  return uploadConflict('Other processes change the upload all the time')
}

/** Milliseconds before a record that was replaced during a read is read again. */
const pausesForRecord = [20, 100, 300, 1000]

/** The record under `key`; `undefined` if there certainly is none. */
export async function readRecord(
  objects: UploadObjects,
  key: string,
): Promise<StoredRecord | undefined> {
  for (const pause of pausesForRecord) {
    try {
      return await readOnce(objects, key)
    } catch (error) {
      // Some servers replace objects in place; a reader may then get half of one.
      if (!(error instanceof SyntaxError) && !isFileServiceError(error, 'store-unavailable')) {
        throw error
      }
      await delay(pause)
    }
  }
  return readOnce(objects, key)
}

async function readOnce(objects: UploadObjects, key: string): Promise<StoredRecord | undefined> {
  const blob = await readBlob({ ...objects, key, name: key }, {})
  if (!blob) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.content) chunks.push(chunk)
  const record = parseRecord(Buffer.concat(chunks).toString())
  return { key, etag: `"${blob.info.etag}"`, record }
}

/** Whether the record has not changed. */
export async function isUnchanged(
  objects: UploadObjects,
  { key, etag }: StoredRecord,
): Promise<boolean> {
  return (await readRecord(objects, key))?.etag === etag
}

/**
 * Writes a record under a new key, on condition that there is none: a request whose answer was lost may arrive after its repetition, and
 * after all changes that followed.
 */
export async function createRecord(
  objects: UploadObjects,
  key: string,
  next: NextRecord,
): Promise<StoredRecord> {
  const written = await writeRecord(objects, key, next, undefined)
  if (written.stored) return written.stored
  throw changesAllTheTime()
}

/** The outcome of {@link replaceRecord}: `found` is the current record, if others changed it first. */
export type RecordReplacement =
  | { readonly stored: StoredRecord }
  | { readonly stored: undefined; readonly found?: StoredRecord }

/**
 * Writes `next` in place of `before`, if that is still there (compare and swap). If the answer is lost, it checks whether the record is
 * now `next`, and otherwise repeats the request. That is safe: its condition holds only once.
 */
export function replaceRecord(
  objects: UploadObjects,
  before: StoredRecord,
  next: NextRecord,
): Promise<RecordReplacement> {
  return writeRecord(objects, before.key, next, before.etag)
}

/** `expected`: the entity tag of the existing record; `undefined` for none. */
async function writeRecord(
  objects: UploadObjects,
  key: string,
  next: NextRecord,
  expected: string | undefined,
): Promise<RecordReplacement> {
  const record = changedNow(next)
  const condition = expected === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected }
  for (let count = 1; ; count++) {
    try {
      const etag = await putRecord(objects, objects.changing, key, record, condition)
      if (expected !== undefined) await objects.own.removeReplaced(key)
      return { stored: { key, etag, record } }
    } catch (error) {
      if (!isTaken(error) && !mayBeDone(error)) throw translateError(error)
      const found = await readRecord(objects, key)
      if (found?.record.revision === record.revision) return { stored: found }
      if (found?.etag !== expected) return { stored: undefined, ...(found && { found }) }
      const pause = pauseBeforeRepeating(error, count)
      if (pause === undefined) throw translateError(error)
      await delay(pause)
    }
  }
}

function changedNow(next: NextRecord): UploadRecord {
  return { ...next, changedAt: Date.now(), revision: randomUUID() }
}

/** Whether the condition did not hold: S3 and servers that find no object to compare with answer differently. */
function isTaken(error: unknown): boolean {
  return isAnswer(error, 'PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey')
}

async function putRecord(
  { bucket }: UploadObjects,
  client: S3Client,
  key: string,
  record: UploadRecord,
  condition: { readonly IfMatch?: string; readonly IfNoneMatch?: string },
): Promise<string> {
  const body = Buffer.from(JSON.stringify(record))
  const { ETag = '' } = await client.send(
    new PutObjectCommand({
      ...{ Bucket: bucket, Key: key, ContentType: 'application/json' },
      ...{ Body: body, ContentLength: body.length },
      ...condition,
    }),
  )
  return ETag
}

/** Part objects of one append, of one size, in order: `<by>-<first>`, `<by>-<first + 1>`, and so on. */
export interface PartRun {
  readonly by: string
  readonly first: number
  readonly count: number
  /** Of each, in bytes. */
  readonly size: number
}

/** An attempt to make the blob, once its multipart upload has all parts. */
export interface Publication {
  /** In the blob's metadata, to identify it. */
  readonly mark: string
  readonly multipartId: string
  /** Milliseconds since 1970. */
  readonly since: number
  /** The entity tag that the blob will get, without quotes; empty if it cannot be predicted. */
  readonly etag: string
}

/** The state of an upload, in one small object. An object that it does not list is not part of the upload. */
export interface UploadRecord {
  readonly customer: string
  readonly plan: UploadPlan
  readonly parts: readonly PartRun[]
  /** The last part, too small for a real one; a longer one under another name replaces it. */
  readonly tail?: PartRun | undefined
  /** The time of the last change, by the clock of the process that made it; in milliseconds since 1970. */
  readonly changedAt: number
  /** Milliseconds after the last change at which the upload expires, if that is sooner than by its plan. */
  readonly expiresAfterMs?: number | undefined
  readonly publishing?: Publication | undefined
  readonly published?: Omit<BlobInfo, 'name' | 'modifiedAt'> & { readonly modifiedAt: number }
  /** Dropped: its objects are being removed. */
  readonly isDiscarded?: boolean
  /** `by` of an append whose parts are listed when it has ended. As long as it renews the record, nothing may remove them. */
  readonly waiting?: string | undefined
  /** Identifies this state of the record; no two states have the same. */
  readonly revision: string
}

/** How many bytes of the content are stored. */
export function offsetOf({ parts, tail, published }: UploadRecord): number {
  const runs = tail ? [...parts, tail] : parts
  return published?.size ?? runs.reduce((sum, { count, size }) => sum + count * size, 0)
}

/** What the rules of uploads need to know. An upload that is being published counts as published. */
export function progressOf(record: UploadRecord) {
  const { plan, published, publishing } = record
  return { plan, offset: offsetOf(record), published: published ?? publishing }
}

/** How many parts there are, without the tail. */
export function countParts({ parts }: UploadRecord): number {
  return parts.reduce((sum, { count }) => sum + count, 0)
}

/** The names of the part objects, in order, with the tail. */
export function partNames({ parts, tail }: UploadRecord): string[] {
  return [...parts, ...(tail ? [tail] : [])].flatMap(({ by, first, count }) =>
    Array.from({ length: count }, (_, index) => `${by}-${first + index}`),
  )
}

/** `parts` with one more at the end. */
export function withPart(parts: readonly PartRun[], part: PartRun): PartRun[] {
  const last = parts.at(-1)
  const goesOn =
    last?.by === part.by && last.size === part.size && last.first + last.count === part.first
  if (!goesOn) return [...parts, part]
  return [...parts.slice(0, -1), { ...last, count: last.count + part.count }]
}

/** Whether both have the same bytes. */
export function hasSameContent(a: UploadRecord, b: UploadRecord): boolean {
  const contentOf = ({ parts, tail, publishing, published, isDiscarded }: UploadRecord) =>
    JSON.stringify([parts, tail, publishing, published, isDiscarded])
  return contentOf(a) === contentOf(b)
}

/** When the upload expires, in milliseconds since 1970. */
function expiryOf({ changedAt, plan, expiresAfterMs = Infinity }: UploadRecord): number {
  const latestDate = 8.64e15
  return Math.min(changedAt + Math.min(plan.expiresAfterMs, expiresAfterMs), latestDate)
}

/** Whether the upload exists for clients at the time `now`. */
export function isKnown(record: UploadRecord, now: number): boolean {
  return record.isDiscarded !== true && now < expiryOf(record)
}

/** The port's description of the upload. */
export function describeUpload(id: string, record: UploadRecord): ResumableUpload {
  const published = publishedBlob(record)
  return {
    id,
    plan: record.plan,
    offset: offsetOf(record),
    expiresAt: new Date(expiryOf(record)),
    ...(published && { published }),
  }
}

export function publishedBlob({ plan, published }: UploadRecord): BlobInfo | undefined {
  if (!published) return undefined
  const { size, etag, modifiedAt } = published
  return { name: plan.name, size, etag, modifiedAt: new Date(modifiedAt) }
}

/** @throws SyntaxError for an incomplete record */
function parseRecord(text: string): UploadRecord {
  const parsed: unknown = JSON.parse(text)
  if (isRecord(parsed)) return parsed
  throw new SyntaxError('Not the record of an upload')
}

function isRecord(value: unknown): value is UploadRecord {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['customer', 'plan', 'parts', 'changedAt', 'revision'].every((name) => name in value)
  )
}
