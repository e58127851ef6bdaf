import { isFileServiceError, type FileService } from '@holdfast/core'
import type { Audit, OnAnswered } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import type { ServerWatch } from './server-watch.ts'
import { fieldsOf, purgeEvent, repeatSweep } from './sweeps.ts'

/** How long to wait between two looks at the free space, and at least between two removals, in milliseconds. */
const spacePauseMs = 5_000

export interface SpaceGuardOptions {
  readonly log: Logger
  /** How many bytes are free. Default: unknown, or another process looks at it. */
  readonly freeSpace?: (() => Promise<number>) | undefined
  /** How many bytes should be free; 0 for none. */
  readonly least: number
  /** Records what is removed before its time, one event for each customer. Default: none. */
  readonly audit?: Audit | undefined
  readonly watch: Pick<ServerWatch, 'onPurged'>
  /** Default: five seconds. */
  readonly pauseMs?: number
}

/** Removes earlier versions when the store has no room for files. */
export interface SpaceGuard {
  /**
   * Returns what to call after each request, which calls `next`. After an upload for which the store had no room, as many bytes as had
   * arrived are freed, so that a repeated upload gets further; but not within five seconds after a removal. An upload that was refused for
   * its announced length frees nothing, nor does a restored or renamed file: otherwise a request without content could remove the earlier
   * versions of all customers.
   */
  onAnswered(next?: OnAnswered): OnAnswered
  close(): Promise<void>
}

/**
 * Looks at the free space every five seconds. When less than `least` bytes are free, it removes the oldest that is kept, for any customer,
 * until twice as much is free. It logs and records that. `close` ends it.
 */
export function guardSpace(
  service: Pick<FileService, 'freeKept'>,
  options: SpaceGuardOptions,
): SpaceGuard {
  const { log, freeSpace, least, audit, watch } = options
  const pause = options.pauseMs ?? spacePauseMs
  let removing: Promise<void> | undefined
  let restsUntil = -Infinity

  const remove = async (bytes: number) => {
    try {
      const removed = (await service.freeKept?.(bytes)) ?? new Map<string, never>()
      for (const [customer, usage] of removed) {
        log.warn({ customer, ...fieldsOf(usage) }, 'versions were removed to make room')
        watch.onPurged('space', usage.bytes)
        await audit?.(purgeEvent(customer, usage))
      }
    } catch (err) {
      log.warn({ err }, 'versions cannot be removed to make room')
    } finally {
      restsUntil = performance.now() + pause
    }
  }

  /** Removes at most once at a time, and not too often: each time, all that is kept is listed. */
  const removeSoon = (bytes: number): Promise<void> => {
    if (removing) return removing
    if (performance.now() < restsUntil) return Promise.resolve()
    removing = remove(bytes).finally(() => (removing = undefined))
    return removing
  }

  const look = async () => {
    try {
      const free = (await freeSpace?.()) ?? Infinity
      if (free < least) await removeSoon(2 * least - free)
    } catch {
      // The readiness check reports a disk that does not answer.
    }
  }

  const watching = freeSpace !== undefined && least > 0 ? repeatSweep(look, pause) : undefined
  return {
    onAnswered: (next) => (answered) => {
      const { bytesIn, failure, route } = answered
      const isUpload = route !== 'restore' && route !== 'rename'
      if (failure !== undefined && isUpload && hasFilledStore(failure)) {
        void removeSoon(Math.max(bytesIn, least))
      }
      next?.(answered)
    },
    close: async () => watching?.close(),
  }
}

/** Whether a store has run out of room while it was writing: then the cause is its own error. */
function hasFilledStore(failure: unknown): boolean {
  return isFileServiceError(failure, 'insufficient-storage') && failure.cause !== undefined
}
