import { join } from 'node:path'
import type { BlobInfo, UploadPlan } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { recordName, type UploadSite } from './upload-site.ts'

/** What is known of an upload beside its content. */
export interface UploadRecord {
  readonly plan: UploadPlan
  /** The blob that the content becomes, recorded before it does. Once the content has left the upload's directory, it is that blob. */
  readonly publishing?: BlobInfo
}

/** The text of the record's file. */
export function formatRecord(record: UploadRecord): string {
  return JSON.stringify(record) + '\n'
}

/** The record in `text`; `undefined` if it is damaged. */
export function parseRecord(text: string): UploadRecord | undefined {
  const { plan, publishing } = membersOf(parseJson(text))
  if (!isPlan(plan)) return undefined
  if (publishing === undefined) return { plan }
  const { name, size, modifiedAt, etag } = membersOf(publishing)
  if (typeof name !== 'string' || typeof size !== 'number' || typeof etag !== 'string') {
    return undefined
  }
  return { plan, publishing: { name, size, modifiedAt: new Date(String(modifiedAt)), etag } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function isPlan(value: unknown): value is UploadPlan {
  const { name, length, createOnly, sha256, note, link, login, expiresAfterMs } = membersOf(value)
  const may = (member: unknown, type: string) => member === undefined || typeof member === type
  return (
    typeof name === 'string' &&
    typeof expiresAfterMs === 'number' &&
    may(length, 'number') &&
    may(createOnly, 'boolean') &&
    may(sha256, 'string') &&
    may(note, 'string') &&
    may(link, 'string') &&
    may(login, 'string')
  )
}

interface ReadRecord {
  /** `undefined` if it is damaged. */
  readonly record: UploadRecord | undefined
  /** Milliseconds since 1970. */
  readonly changedAt: number
}

/** Reads the record at `path`; rejects with the system's error if there is none. */
export async function readRecord(path: string, calls: FileCalls): Promise<ReadRecord> {
  const file = await calls.open(path, 'r')
  try {
    const { size, mtimeNs } = await calls.stat(file)
    const bytes = Buffer.alloc(Number(size))
    // A record is replaced, and never changed: its size stays.
    const length = await calls.read(file, bytes, 0)
    const record = parseRecord(bytes.toString('utf8', 0, length))
    return { record, changedAt: Number(mtimeNs) / 1e6 }
  } finally {
    await calls.close(file)
  }
}

/** Writes `record` into the new and empty `file`. */
export async function writeRecord(
  file: number,
  record: UploadRecord,
  calls: FileCalls,
): Promise<void> {
  let rest: Uint8Array = Buffer.from(formatRecord(record))
  while (rest.length > 0) rest = rest.subarray(await calls.write(file, rest))
}

/** Writes `record` into `file`, makes it durable, and closes the file. */
export async function fillRecord(
  file: number,
  record: UploadRecord,
  calls: FileCalls,
): Promise<void> {
  try {
    await writeRecord(file, record, calls)
    await calls.sync(file)
  } finally {
    await calls.close(file)
  }
}

type RecordSite = Pick<UploadSite, 'calls' | 'tempDirectory'>

/** Replaces the record of the upload in `directory` durably, in one step. */
export async function replaceRecord(
  directory: string,
  record: UploadRecord,
  site: RecordSite,
): Promise<void> {
  await placeRecord(directory, await prepareRecord(record, site), site)
}

/** Writes `record` durably into a temporary file; resolves with the path. */
export async function prepareRecord(
  record: UploadRecord,
  { calls, tempDirectory }: RecordSite,
): Promise<string> {
  const { path, file } = await tempDirectory.createTemporaryFile()
  try {
    await fillRecord(file, record, calls)
    return path
  } catch (error) {
    await tempDirectory.remove(path)
    throw error
  }
}

/** Moves the prepared record at `path` into the upload's `directory`, durably. */
export async function placeRecord(
  directory: string,
  path: string,
  { calls, tempDirectory }: RecordSite,
): Promise<void> {
  try {
    await changeDurably(directory, () => nameRecord(directory, path, calls), calls)
    crashPoint('upload-record-synced')
  } catch (error) {
    await tempDirectory.remove(path)
    throw error
  }
}

/** Gives the prepared record at `path` its name; the caller syncs the directory. */
export async function nameRecord(directory: string, path: string, calls: FileCalls): Promise<void> {
  await calls.rename(path, join(directory, recordName))
  crashPoint('upload-record-replaced')
}
