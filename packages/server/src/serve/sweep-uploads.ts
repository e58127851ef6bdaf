import { setTimeout as delay } from 'node:timers/promises'
import type { FileService } from '@holdfast/core'
import type { Logger } from 'pino'

/** How long to wait between two sweeps, in milliseconds. A bucket needs several in an hour, to find publications that broke off. */
const pauseMs = 15 * 60 * 1000

/** How long `close` waits for a sweep under way, in milliseconds. The next sweep removes what is left. */
const patienceMs = 1_000

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
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  const sweep = async (): Promise<void> => {
    try {
      const uploads = await service.sweepUploads()
      if (uploads > 0) {
        options.onExpired?.(uploads)
        log.info({ uploads }, 'expired uploads were removed')
      }
    } catch (err) {
      // The store may be closed already.
      if (!isClosed) log.warn({ err }, 'expired uploads cannot be removed')
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
