import type { FileCalls } from '../files/file-calls.ts'
import { translateFsError } from '../files/translate-fs-error.ts'

/** Bytes between two syncs: enough for a disk to be quick about it, little enough to be soon behind at the end. */
const interval = 32 * 1024 * 1024

/** Bytes of large contents that this process has written so far. */
let writtenByAll = 0

/** Has the disk begin with a content before all of it is there. */
export interface IncrementalSync {
  /** To be told of what was written to the file. */
  wrote(bytes: number): void
  /** Resolves when no sync is under way; rejects where one has failed, which no later one may hide. */
  end(): Promise<void>
}

/**
 * Left to itself, the system keeps a content in memory until it is synced, and the disk is idle meanwhile. So `file` is
 * synced now and then while it is written, as long as others write little: where they write much, the disk is not idle,
 * and each sync waits for theirs, too.
 */
export function createIncrementalSync(file: number, calls: FileCalls): IncrementalSync {
  let unsynced = 0
  let writtenBefore = writtenByAll
  let syncing: Promise<void> | undefined

  const sync = async () => {
    // After a failure it stays what it is, and there is no other one.
    await translateFsError(calls.datasync(file))
    syncing = undefined
  }

  return {
    wrote(bytes) {
      writtenByAll += bytes
      unsynced += bytes
      if (unsynced < interval || syncing) return
      const byOthers = writtenByAll - writtenBefore - unsynced
      const isAlone = byOthers < unsynced / 4
      unsynced = 0
      writtenBefore = writtenByAll
      if (!isAlone) return
      syncing = sync()
      // It is told at the end.
      syncing.catch(() => {})
    },
    end: async () => syncing,
  }
}
