import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { isFileServiceError, uploadConflict, type FileServiceError } from '@holdfast/core'
import { pauseBeforeRepeating } from '../errors/retry-strategy.ts'
import { isAnswer, mayBeDone, translateError } from '../errors/s3-errors.ts'
import { readBlob } from '../read/read-blob.ts'
import type { UploadObjects } from './upload-keys.ts'
import { parseRecord, type UploadRecord } from './upload-record.ts'

/** A record as it was at one moment. */
export interface StoredRecord {
  /** Of the object. */
  readonly key: string
  /** In quotes. */
  readonly etag: string
  readonly record: UploadRecord
}

/** A record without what {@link replaceRecord} gives it. */
export type NextRecord = Omit<UploadRecord, 'revision' | 'changedAt'>

/** How often others may change an upload while it is changed here. */
export const mostAttempts = 5

/** The rejection where they did so each time. */
export function changesAllTheTime(): FileServiceError {
  return uploadConflict('Other processes change the upload all the time')
}

/** Milliseconds before a record is read again that was replaced while it was read. */
const pausesForRecord = [20, 100, 300, 1000]

/** The record under `key`; `undefined` if there is none, for certain. */
export async function readRecord(
  objects: UploadObjects,
  key: string,
): Promise<StoredRecord | undefined> {
  for (const pause of pausesForRecord) {
    try {
      return await readOnce(objects, key)
    } catch (error) {
      // Some servers replace objects in place; then a reader may get half of it.
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

/** Whether the record is still as it was. */
export async function isUnchanged(
  objects: UploadObjects,
  { key, etag }: StoredRecord,
): Promise<boolean> {
  return (await readRecord(objects, key))?.etag === etag
}

/**
 * Writes a record under a new key. Only where there is none: a request whose answer was lost may arrive after the one that repeated it,
 * and after all that was built on that.
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

/** What became of {@link replaceRecord}: `found` is what is there instead, if others were quicker. */
export type Replacement =
  | { readonly stored: StoredRecord }
  | { readonly stored: undefined; readonly found?: StoredRecord }

/**
 * Writes `next` in place of `before`, if that is still there (compare and swap). Where the answer is lost, it looks whether
 * the record has come to be this one, and repeats the request otherwise, which can do no harm: its condition holds once.
 */
export function replaceRecord(
  objects: UploadObjects,
  before: StoredRecord,
  next: NextRecord,
): Promise<Replacement> {
  return writeRecord(objects, before.key, next, before.etag)
}

/** `expected`: the entity tag of the record that is there; `undefined` for none. */
async function writeRecord(
  objects: UploadObjects,
  key: string,
  next: NextRecord,
  expected: string | undefined,
): Promise<Replacement> {
  const record = changedNow(next)
  const condition = expected === undefined ? { IfNoneMatch: '*' } : { IfMatch: expected }
  for (let count = 1; ; count++) {
    try {
      const etag = await putRecord(objects, objects.changing, key, record, condition)
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

/** Whether the condition did not hold, by the words of S3 and of those who find no object to compare with. */
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
