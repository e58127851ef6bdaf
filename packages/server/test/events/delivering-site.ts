import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { formatEvent } from '../../src/audit/open-trail-file.ts'
import { openCursor } from '../../src/events/cursor.ts'
import {
  deliverEvents,
  type Delivery,
  type DeliveryEvents,
  type DeliveryOptions,
} from '../../src/events/deliver-events.ts'
import { createLease, type Lease } from '../../src/events/lease.ts'
import { serverCursorFile } from '../../src/events/open-webhooks.ts'
import { createEventPoster } from '../../src/events/post-event.ts'
import { openTrailReader } from '../../src/events/read-trail.ts'
import { secret } from './receiver.ts'

/** Calls of {@link DeliveryEvents}, as text. */
export type Reports = readonly string[]

/** A directory with a trail, whose changes are delivered. */
export interface DeliveringSite {
  readonly directory: string
  readonly trail: string
  readonly reports: Reports
  /** Writes lines of uploads of the files `names`. */
  write(names: readonly string[], time?: Date): Promise<void>
  /** Begins to deliver; closed after the test. */
  deliver(
    url: string,
    options?: DeliveryOptions & { readonly timeoutMs?: number; readonly lease?: Lease },
  ): Promise<Delivery>
  remove(): Promise<void>
}

export async function createDeliveringSite(): Promise<DeliveringSite> {
  const directory = await makeTemporaryDirectory()
  const trail = join(directory.path, 'audit.jsonl')
  const reports: string[] = []
  const events: DeliveryEvents = {
    onFailure: (reason) => void reports.push(`failure: ${reason}`),
    onRecovery: (failures) => void reports.push(`recovery: ${failures}`),
    onGone: () => void reports.push('gone'),
    onLoss: (reason, count) => void reports.push(`loss: ${reason} ${count}`),
    onTrouble: (error) => void reports.push(`trouble: ${String(error)}`),
  }
  const deliveries: Delivery[] = []
  return {
    directory: directory.path,
    trail,
    reports,
    async write(names, time = new Date()) {
      const lines = names.map((file) =>
        formatEvent({
          time,
          event: 'upload',
          outcome: 'ok',
          reason: undefined,
          customer: 'demo',
          file,
          bytes: 1,
          requestId: undefined,
          address: undefined,
        }),
      )
      await appendFile(trail, lines.join(''))
    },
    async deliver(
      url,
      { timeoutMs = 15_000, lease = createLease(`${trail}.lease`), ...options } = {},
    ) {
      const cursorFile = serverCursorFile(trail)
      const cursor = await openCursor(cursorFile, trail)
      const parts = {
        cursorFile,
        cursor,
        openReader: ({ position }: typeof cursor, onLost: (since: string) => void) =>
          openTrailReader(trail, position, { onLost, graceMs: 0 }),
        poster: createEventPoster({ url, allowPrivate: true, secrets: () => [secret], timeoutMs }),
        lease,
      }
      const fast = { pollMs: 10, shortestPauseMs: 10, longestPauseMs: 50, ...options }
      const delivery = deliverEvents(parts, events, fast)
      deliveries.push(delivery)
      return delivery
    },
    async remove() {
      for (const delivery of deliveries.splice(0)) await delivery.close()
      await directory.remove()
    },
  }
}
