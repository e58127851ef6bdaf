import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import type { IncrementalSync } from '../write/incremental-sync.ts'

/** Bytes between two syncs. */
const interval = 24 * 1024 * 1024

/** The most bytes that do not count yet, less what is written at a time: a writer that is faster than the disk waits. */
const most = 254 * 1024 * 1024

/** Milliseconds between two syncs at the most, where the content comes slowly. */
const slow = 10_000

/** Synced bytes, or milliseconds, from one acknowledgement to the next. Each syncs a directory, which delays the content. */
const stride = { bytes: 96 * 1024 * 1024, ms: 1_000 }

export interface DurableProgress extends IncrementalSync {
  /** Bytes so far. */
  written(): number
  /** Resolves when all that was written is durable, and acknowledged. `sync` syncs what is not synced yet. */
  finish(sync?: () => Promise<void>): Promise<void>
}

/**
 * Syncs `file` while it is written, and has `acknowledge` note how many of the bytes are durable: after the first sync, after later
 * ones once a stride of bytes or time has passed, and at the end. Meanwhile the next bytes are synced, so that the disk is never
 * idle. After a failure nothing more counts: the kernel drops the pages that it could not write.
 */
export function createDurableProgress(
  file: number,
  calls: FileCalls,
  acknowledge: (bytes: number) => Promise<void> = async () => {},
): DurableProgress {
  let written = 0
  let begun = 0
  let synced = 0
  let acknowledged = 0
  let begunAt = performance.now()
  let noted = 0
  let notedAt = -Infinity
  let syncing: Promise<void> | undefined
  let acknowledging = Promise.resolve()

  const acknowledgeAfter = async (before: Promise<void>, bytes: number) => {
    await before
    await translateFsError(acknowledge(bytes))
    acknowledged = bytes
  }

  /** Makes what is synced count. */
  const note = () => {
    noted = synced
    notedAt = performance.now()
    acknowledging = acknowledgeAfter(acknowledging, synced)
    acknowledging.catch(() => {})
  }

  const isDue = () =>
    synced - noted >= stride.bytes ||
    performance.now() - notedAt >= stride.ms ||
    written - noted >= most

  const datasync = () => calls.datasync(file)

  const sync = async (bytes: number, syncFile: () => Promise<void>) => {
    await translateFsError(syncFile())
    crashPoint('upload-content-synced')
    synced = bytes
    if (isDue()) note()
    // After a failure `syncing` stays as it is.
    syncing = undefined
    if (written - begun >= interval) begin()
  }

  const begin = (syncFile = datasync) => {
    begun = written
    begunAt = performance.now()
    syncing = sync(written, syncFile)
    syncing.catch(() => {})
  }

  const end = async () => {
    while (syncing) await syncing
    await acknowledging
  }

  /** Resolves when the disk has caught up. */
  const room = async () => {
    while (written - acknowledged >= most) {
      await acknowledging
      if (written - acknowledged < most) return
      if (!syncing) begin()
      await syncing
    }
  }

  return {
    written: () => written,
    wrote(bytes) {
      written += bytes
      const isDue = written - begun >= interval || performance.now() - begunAt > slow
      if (isDue && !syncing) begin()
      return written - acknowledged >= most ? room() : undefined
    },
    end,
    async finish(syncFile) {
      await end()
      if (written === acknowledged) return
      begin(syncFile)
      await end()
      if (noted < synced) note()
      await acknowledging
    },
  }
}
