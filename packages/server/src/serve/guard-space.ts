import type { FileService } from '@holdfast/core'
import type { Audit, OnAnswered } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import { repeatSweep } from './repeat-sweep.ts'
import type { ServerWatch } from './server-watch.ts'
import { fieldsOf, purgeEvent } from './sweep-kept.ts'

/** How long to wait between two looks at the free space, and at least between two removals, in milliseconds. */
const pauseMs = 5_000

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

/** Removes what is kept when the store has no room for files. */
export interface SpaceGuard {
  /**
   * Returns what to call after each request, which calls `next`. After an upload that was refused with `insufficient-storage`, as many
   * bytes as had arrived are freed, so that a repeated upload gets further; but not within five seconds after a removal.
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
  const pause = options.pauseMs ?? pauseMs
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
      // With nothing left to remove, it need not list what is kept so often.
      restsUntil = performance.now() + (removed.size > 0 ? pause : 12 * pause)
    } catch (err) {
      restsUntil = performance.now() + pause
      log.warn({ err }, 'versions cannot be removed to make room')
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
      const { code, bytesIn } = answered
      if (code === 'insufficient-storage') void removeSoon(Math.max(bytesIn, least))
      next?.(answered)
    },
    close: async () => watching?.close(),
  }
}
