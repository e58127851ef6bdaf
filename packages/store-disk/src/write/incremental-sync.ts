import type { FileCalls } from '../files/file-calls.ts'
import { translateFsError } from '../files/translate-fs-error.ts'

/** Bytes between two syncs: enough for a fast sync, and few enough for the last one to end soon. */
const interval = 32 * 1024 * 1024

/** Bytes of large contents that this process has written. */
let writtenByAll = 0

/** Syncs a file while it is being written. */
export interface IncrementalSync {
  /**
   * Counts bytes that were written to the file, and starts a sync if one is due. If it returns a promise, the writer awaits that
   * before it writes more.
   */
  wrote(bytes: number): Promise<void> | undefined
  /** Resolves when no sync is running; rejects if one has failed, since a later one would succeed without its bytes. */
  end(): Promise<void>
}

/**
 * Syncs `file` after every 32 MiB while it is written. Otherwise the system keeps the content in memory until the last
 * sync, and the disk is idle until then. It does not sync while other uploads write much: the disk is busy then, and
 * each sync would wait for their bytes, too.
 */
export function createIncrementalSync(file: number, calls: FileCalls): IncrementalSync {
  let unsynced = 0
  let writtenBefore = writtenByAll
  let syncing: Promise<void> | undefined

  const sync = async () => {
    // After a failure `syncing` stays as it is, so that no other sync starts.
    await translateFsError(calls.datasync(file))
    syncing = undefined
  }

  return {
    wrote(bytes) {
      writtenByAll += bytes
      unsynced += bytes
      if (unsynced < interval || syncing) return undefined
      const byOthers = writtenByAll - writtenBefore - unsynced
      const isAlone = byOthers < unsynced / 4
      unsynced = 0
      writtenBefore = writtenByAll
      if (!isAlone) return undefined
      syncing = sync()
      // `end` reports the failure.
      syncing.catch(() => {})
      return undefined
    },
    end: async () => syncing,
  }
}
