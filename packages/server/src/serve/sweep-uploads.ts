import { setTimeout as delay } from 'node:timers/promises'
import type { FileService } from '@holdfast/core'
import type { Logger } from 'pino'

/** How long to wait between two sweeps, in milliseconds: a bucket wants several within the hour, to note publications that broke off. */
const pauseMs = 15 * 60 * 1000

/** How long the end waits for a sweep under way, in milliseconds. What that one leaves, the next one removes. */
const patienceMs = 1_000

export interface SweepOptions {
  /** Called with the number of uploads that have expired, 1 or more. Default: none. */
  readonly onExpired?: (uploads: number) => void
  /** Default: a quarter of an hour. */
  readonly pauseMs?: number
}

/**
 * Removes uploads that have expired: at once, without waiting for it, and then regularly, one sweep at a time. What is
 * removed, and a sweep that fails, is in the log. `close` ends it.
 */
export function sweepUploads(
  service: Pick<FileService, 'sweepUploads'>,
  log: Logger,
  options: SweepOptions = {},
): { close(): Promise<void> } {
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  const sweep = async (): Promise<void> => {
    try {
      const uploads = await service.sweepUploads()
      if (uploads > 0) {
        options.onExpired?.(uploads)
        log.info({ uploads }, 'uploads have expired and are removed')
      }
    } catch (err) {
      // The store may be closed already.
      if (!isClosed) log.warn({ err }, 'uploads that have expired cannot be removed')
    }
    if (!isClosed) timer = setTimeout(begin, options.pauseMs ?? pauseMs).unref()
  }
  const begin = () => {
    sweeping = sweep()
  }
  let sweeping = sweep()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      const patience = new AbortController()
      await Promise.race([sweeping, delay(patienceMs, undefined, patience).catch(() => {})])
      patience.abort()
    },
  }
}
