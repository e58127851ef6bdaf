import type { SyncRecord } from './sync-record.ts'
import type { SyncState } from './sync-state.ts'

/** Hands records to the state in the order of names, in which their files were begun, and not ended. */
export interface OrderedRecords {
  /** `undefined` for a file that needs no record. */
  add(record: Promise<SyncRecord | undefined>): void
  /** Whether all are to be written before more are added. */
  isFull(): boolean
  /** Resolves when all are written. */
  written(): Promise<void>
}

/** A large file that takes long holds the records of so many files in memory. */
const mostWaiting = 10_000

/** @param onError called with what writing fails with, once; records are of use, and not needed */
export function orderRecords(
  { add }: Pick<SyncState, 'add'>,
  onError: (error: unknown) => void,
): OrderedRecords {
  let waiting = 0
  let hasFailed = false
  let written = Promise.resolve()
  const write = async (before: Promise<void>, promised: Promise<SyncRecord | undefined>) => {
    await before
    const record = await promised
    waiting--
    if (record === undefined || hasFailed) return
    await add(record).catch((error: unknown) => {
      hasFailed = true
      onError(error)
    })
  }
  return {
    add(record) {
      waiting++
      written = write(written, record)
    },
    isFull: () => waiting >= mostWaiting,
    written: () => written,
  }
}
