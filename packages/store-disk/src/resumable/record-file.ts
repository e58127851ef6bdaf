import { join } from 'node:path'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { formatRecord, parseRecord, type UploadRecord } from './upload-record.ts'
import { recordName, type UploadSite } from './upload-site.ts'

export interface ReadRecord {
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

/** The same; makes it durable, and closes the file. */
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

/** Writes `record` durably into a temporary file; resolves to the path. */
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

/** Makes the prepared record at `path` that of the upload in `directory`, durably. */
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

/** Gives the prepared record at `path` its name; whoever calls it syncs the directory. */
export async function nameRecord(directory: string, path: string, calls: FileCalls): Promise<void> {
  await calls.rename(path, join(directory, recordName))
  crashPoint('upload-record-replaced')
}
