import {
  expiryWhenFullMs,
  isFileServiceError,
  uploadConflict,
  uploadNotFound,
} from '@holdfast/core'
import {
  hasSameContent,
  partNames,
  withPart,
  type PartRun,
  type UploadRecord,
} from './upload-record.ts'
import { replaceRecord, type StoredRecord } from './upload-records.ts'
import type { UploadObjects } from './upload-keys.ts'

/** A part object that is stored, or is on its way; `isTail` where it is too small for a part. */
export interface NewPart {
  readonly run: PartRun
  readonly isTail: boolean
}

/** Writes the parts of one append into the record of the upload. */
export interface PartLedger {
  /** The record as this append has written it. */
  readonly stored: () => StoredRecord
  /** Writes `parts`, which are stored and follow one another. @throws FileServiceError `upload-conflict` for the loser */
  add(parts: readonly NewPart[]): Promise<void>
  /** Has the upload expire soon unless it goes on. Never throws: where it fails, the upload expires by its plan. */
  expireSoon(): Promise<void>
  /** The names of `names` that are certainly in no record: an answer that was lost may have put them there. */
  unlisted(names: readonly string[]): readonly string[]
}

/**
 * The truth is the record: who replaces it first has the offset, and who comes second has a conflict. A change that leaves
 * the content as it was, such as a length that becomes known, is taken over. `onStored` gets each record that it has written.
 */
export function createPartLedger(
  objects: UploadObjects,
  begun: StoredRecord,
  onStored: (stored: StoredRecord) => void = () => {},
): PartLedger {
  let stored = begun
  let isDoubtful = false
  let latest: UploadRecord | undefined = begun.record

  async function replace(parts: readonly NewPart[]): Promise<void> {
    const replaced = await replaceRecord(objects, stored, extend(stored.record, parts))
    if (replaced.stored) {
      stored = replaced.stored
      latest = stored.record
      onStored(stored)
      return
    }
    const { found } = replaced
    latest = found?.record
    if (!found || found.record.isDiscarded === true) throw uploadNotFound()
    if (!hasSameContent(found.record, stored.record)) {
      throw uploadConflict('Another process has gone on with the upload')
    }
    stored = found
    await replace(parts)
  }

  return {
    stored: () => stored,
    async add(parts) {
      try {
        await replace(parts)
      } catch (error) {
        isDoubtful =
          !isFileServiceError(error, 'upload-conflict') &&
          !isFileServiceError(error, 'upload-not-found')
        throw error
      }
    },
    async expireSoon() {
      const next = { ...stored.record, expiresAfterMs: expiryWhenFullMs }
      await replaceRecord(objects, stored, next).catch(() => {})
    },
    unlisted: (names) => {
      if (isDoubtful) return []
      const listed = new Set(latest ? partNames(latest) : [])
      return names.filter((name) => !listed.has(name))
    },
  }
}

function extend(record: UploadRecord, added: readonly NewPart[]): UploadRecord {
  const { tail: _replaced, expiresAfterMs: _ended, ...rest } = record
  const parts = added.filter(({ isTail }) => !isTail).map(({ run }) => run)
  const tail = added.find(({ isTail }) => isTail)?.run
  return { ...rest, parts: parts.reduce(withPart, [...record.parts]), ...(tail && { tail }) }
}
