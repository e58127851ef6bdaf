import { crashPoint } from '../files/crash-point.ts'
import type { FileCalls } from '../files/file-calls.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import type { IncrementalSync } from '../write/incremental-sync.ts'

/** Bytes between two syncs, and the most that are not durable: a writer that is faster than the disk waits. */
const interval = 24 * 1024 * 1024
const most = 62 * 1024 * 1024

/** Milliseconds between two syncs at the most, where the content comes slowly. */
const slow = 10_000

export interface DurableProgress extends IncrementalSync {
  /** Bytes so far. */
  written(): number
  /** Resolves when all that was written is durable, and acknowledged. `sync` syncs what is not synced yet. */
  finish(sync?: () => Promise<void>): Promise<void>
}

/**
 * Syncs `file` while it is written, and has `acknowledge` note how many of the bytes are durable. Meanwhile the next bytes are
 * synced, so that the disk is never idle. After a failure nothing more counts: the kernel drops the pages that it could not write.
 */
export function createDurableProgress(
  file: number,
  calls: FileCalls,
  acknowledge: (bytes: number) => Promise<void> = async () => {},
): DurableProgress {
  let written = 0
  let begun = 0
  let durable = 0
  let begunAt = performance.now()
  let syncing: Promise<void> | undefined
  let acknowledging = Promise.resolve()

  const note = async (before: Promise<void>, bytes: number) => {
    await before
    await translateFsError(acknowledge(bytes))
    durable = bytes
  }

  const datasync = () => calls.datasync(file)

  const sync = async (bytes: number, syncFile: () => Promise<void>) => {
    await translateFsError(syncFile())
    crashPoint('upload-content-synced')
    acknowledging = note(acknowledging, bytes)
    acknowledging.catch(() => {})
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
    while (written - durable >= most) {
      await acknowledging
      if (written - durable < most) return
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
      return written - durable >= most ? room() : undefined
    },
    end,
    async finish(syncFile) {
      await end()
      if (written === durable) return
      begin(syncFile)
      await end()
    },
  }
}
