import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { openCursor, readCursor } from './cursor.ts'
import { deliverEvents, type DeliveryEvents, type DeliveryState } from './deliver-events.ts'
import { createLease } from './lease.ts'
import { createEventPoster } from './post-event.ts'
import { openTrailReader } from './read-trail.ts'
import { findWebhookSettings, readWebhookSecrets } from './webhook-settings.ts'

/** Delivers the changes of the audit trail to `--webhook`. */
export interface Webhook {
  state(): DeliveryState
  /** Reads the secrets again; resolves with `false` if they are wrong, so that the earlier ones stay in use. */
  reload(): Promise<boolean>
  close(): Promise<void>
}

/**
 * Begins to deliver events; `undefined` without `--webhook`. Call it before the first line of the trail that this server writes, in one
 * process only.
 *
 * @throws SetupError for settings with which no event could be delivered
 */
export async function openWebhook(config: Config, log: Logger): Promise<Webhook | undefined> {
  const settings = await findWebhookSettings(config)
  if (settings === undefined) return undefined
  const { url, trail, allowPrivate } = settings
  let { secrets } = settings
  const cursor = await openCursor(trail)
  const delivery = deliverEvents(
    {
      trail,
      cursor,
      openReader: ({ position }, onLost) => openTrailReader(trail, position, { onLost }),
      readCursor: () => readCursor(trail),
      poster: createEventPoster({ url, allowPrivate, secrets: () => secrets }),
      lease: createLease(`${trail}.lease`),
    },
    reportTo(log, url),
  )
  return {
    state: () => delivery.state(),
    async reload() {
      try {
        secrets = await readWebhookSecrets(config)
        return true
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log.error({ reason }, 'webhook secret refused; the earlier one stays in use')
        return false
      }
    },
    close: () => delivery.close(),
  }
}

const minuteMs = 60_000

/** Writes to the log; of the receiver only its origin, since the rest of the URL may be secret. */
function reportTo(log: Logger, url: string): DeliveryEvents {
  const receiver = new URL(url).origin
  let warnedAt = -Infinity
  return {
    onFailure(reason) {
      const now = performance.now()
      if (now - warnedAt < minuteMs) return
      warnedAt = now
      log.warn({ receiver, reason }, 'webhook: the event was not accepted; it will be sent again')
    },
    onRecovery(failures) {
      warnedAt = -Infinity
      log.info({ receiver, failures }, 'webhook: events are accepted again')
    },
    onGone: () =>
      log.error(
        { receiver },
        'webhook: the receiver wants no more events (410); none is sent until the next start',
      ),
    onLoss(reason, count) {
      const fields = { receiver, reason, count }
      if (reason === 'expired') {
        log.error(
          fields,
          'webhook: events were given up after three days; holdfast events replay sends them again',
        )
      } else {
        log.error(
          fields,
          'webhook: lines of the audit trail were removed or compressed before they were delivered',
        )
      }
    },
    onTrouble: (err) =>
      log.error({ err }, 'webhook: the audit trail or the position cannot be used'),
  }
}
