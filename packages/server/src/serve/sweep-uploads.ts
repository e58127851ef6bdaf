import type { FileService } from '@holdfast/core'
import type { Logger } from 'pino'
import { repeatSweep } from './repeat-sweep.ts'

/** How long to wait between two sweeps, in milliseconds. A bucket needs several in an hour, to find publications that broke off. */
const pauseMs = 15 * 60 * 1000

export interface SweepOptions {
  /** Called with the number of uploads that have expired, 1 or more. Default: none. */
  readonly onExpired?: (uploads: number) => void
  /** Default: a quarter of an hour. */
  readonly pauseMs?: number
}

/**
 * Removes expired uploads: at once in the background, and then regularly, one sweep at a time. It logs how many it has removed, and
 * failed sweeps. `close` ends it.
 */
export function sweepUploads(
  service: Pick<FileService, 'sweepUploads'>,
  log: Logger,
  options: SweepOptions = {},
): { close(): Promise<void> } {
  return repeatSweep(async (end) => {
    try {
      const uploads = await service.sweepUploads()
      if (uploads === 0) return
      options.onExpired?.(uploads)
      log.info({ uploads }, 'expired uploads were removed')
    } catch (err) {
      // The store may be closed already.
      if (!end.hasCome()) log.warn({ err }, 'expired uploads cannot be removed')
    }
  }, options.pauseMs ?? pauseMs)
}
