import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CustomerWebhook } from '@holdfast/credentials-file'
import type { Logger } from 'pino'
import { messageOf } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { openCursor, syncDirectory } from './cursor.ts'
import {
  deliverEvents,
  type Delivery,
  type DeliveryEvents,
  type DeliveryState,
} from './deliver-events.ts'
import { createLease, type Lease } from './lease.ts'
import { createEventPoster } from './post-event.ts'
import { openTrailReader } from './read-trail.ts'
import {
  customerWebhookSettings,
  findWebhookSettings,
  readWebhookSecrets,
  type WebhookSettings,
} from './webhook-settings.ts'

/** Delivers the changes of the audit trail to `--webhook`, and the changes of each customer with a webhook to the customer's receiver. */
export interface Webhooks {
  /** That of `--webhook`; `undefined` without it. */
  ofServer(): DeliveryState | undefined
  /** Those of the customers; empty where none has a webhook. */
  ofCustomers(): readonly DeliveryState[]
  /** How many customers with a webhook get no events, since the delivery could not begin; `followCustomers` tries it again. */
  failedCustomers(): number
  /** Reads the secrets of `--webhook` again; resolves with `false` if they are wrong, so that the earlier ones stay in use. */
  reload(): Promise<boolean>
  /**
   * Begins, ends and changes the deliveries of customers as the customers file now says. What cannot be delivered is logged, once for each webhook. Wait for a
   * call before the next one, and before `close`; `openEvents` does that for its callers.
   */
  followCustomers(): Promise<void>
  close(): Promise<void>
}

/** The receivers of customers by their names, as the customers file now says. */
export type CustomerWebhooks = () => ReadonlyMap<string, CustomerWebhook>

/** Where the cursor of `--webhook` is kept. */
export const serverCursorFile = (trail: string): string => `${trail}.cursor`

/**
 * Where the cursor of a customer is kept: under a digest, since a name can be longer than that of a file. It stays when the webhook is
 * removed, so that a removal by mistake loses no event.
 */
export function customerCursorFile(trail: string, customer: string): string {
  const digest = createHash('sha256').update(customer).digest('hex').slice(0, 32)
  return join(`${trail}.customers`, `${digest}.cursor`)
}

export interface WebhooksInput {
  readonly log: Logger
  readonly customerWebhooks: CustomerWebhooks
}

/**
 * Begins to deliver events. Call it before the first line of the trail that this server writes, in one process only. What cannot be
 * delivered to a customer is logged: one customer's webhook must not stop the start of the service for all others.
 *
 * @throws SetupError for settings with which no event of `--webhook` could be delivered
 */
export async function openWebhooks(
  config: Config,
  { log, customerWebhooks }: WebhooksInput,
): Promise<Webhooks> {
  const settings = await findWebhookSettings(config)
  let secrets = settings?.secrets ?? []
  const leases = createLeases()
  const ofServer =
    settings &&
    (await startDelivery(settings, {
      cursorFile: serverCursorFile(settings.trail),
      secrets: () => secrets,
      lease: leases.of(settings.trail),
      log,
    }))
  const ofCustomers = new Map<string, CustomerDelivery>()
  /** The webhooks to which no delivery could begin, by customer. */
  const failures = new Map<string, CustomerWebhook>()

  const end = async (customer: string) => {
    const { delivery } = ofCustomers.get(customer) ?? {}
    ofCustomers.delete(customer)
    await delivery?.close()
  }

  const begin = async (customer: string, webhook: CustomerWebhook) => {
    const found = await customerWebhookSettings(config, customer, webhook)
    const cursorFile = customerCursorFile(found.trail, customer)
    const directory = dirname(cursorFile)
    await mkdir(directory, { recursive: true, mode: 0o750 })
    // Without this sync a power cut could remove the directory and the cursor, and the next cursor would begin at the end of the trail.
    // Sync also if an earlier server made the directory.
    await syncDirectory(dirname(directory))
    const delivery = await startDelivery(found, {
      cursorFile,
      secrets: () => webhook.secrets,
      lease: leases.of(found.trail),
      log,
      customer,
    })
    ofCustomers.set(customer, { webhook, delivery })
    const receiver = new URL(webhook.url).origin
    log.info(
      { receiver, customer },
      'webhook: the changes of the customer are delivered from now on',
    )
  }

  const follow = async () => {
    const wanted = customerWebhooks()
    for (const customer of [...ofCustomers.keys()].filter((name) => !wanted.has(name))) {
      await end(customer)
    }
    for (const customer of failures.keys()) if (!wanted.has(customer)) failures.delete(customer)
    for (const [customer, webhook] of wanted) {
      if (isDeepStrictEqual(ofCustomers.get(customer)?.webhook, webhook)) continue
      await end(customer)
      try {
        await begin(customer, webhook)
        failures.delete(customer)
      } catch (error) {
        // A customer whose webhook fails must not keep the others from their events.
        const reason = messageOf(error)
        if (!isDeepStrictEqual(failures.get(customer), webhook)) {
          log.error({ customer, reason }, 'webhook: the customer gets no events')
        }
        failures.set(customer, webhook)
      }
    }
  }

  const close = async () => {
    await Promise.all([...ofCustomers.keys()].map(end))
    await ofServer?.close()
    await leases.close()
  }

  try {
    await follow()
  } catch (error) {
    await close()
    throw error
  }
  return {
    ofServer: () => ofServer?.state(),
    ofCustomers: () => [...ofCustomers.values()].map(({ delivery }) => delivery.state()),
    failedCustomers: () => failures.size,
    async reload() {
      if (settings === undefined) return true
      try {
        secrets = await readWebhookSecrets(config)
        return true
      } catch (error) {
        log.error(
          { reason: messageOf(error) },
          'webhook secret refused; the earlier one stays in use',
        )
        return false
      }
    },
    followCustomers: follow,
    close,
  }
}

interface CustomerDelivery {
  readonly webhook: CustomerWebhook
  readonly delivery: Delivery
}

interface DeliveryInput {
  readonly cursorFile: string
  readonly secrets: () => readonly string[]
  readonly lease: Lease
  readonly log: Logger
  readonly customer?: string
}

async function startDelivery(
  { url, trail, allowPrivate }: WebhookSettings,
  { cursorFile, secrets, lease, log, customer }: DeliveryInput,
): Promise<Delivery> {
  const cursor = await openCursor(cursorFile, trail)
  return deliverEvents(
    {
      cursorFile,
      cursor,
      ...(customer !== undefined && { customer }),
      openReader: ({ position }, onLost) => openTrailReader(trail, position, { onLost }),
      poster: createEventPoster({ url, allowPrivate, secrets }),
      lease,
    },
    reportTo(log, url, customer),
  )
}

/** The lease of the trail, which all deliveries of this process share; closed with the last one. */
function createLeases() {
  let lease: Lease | undefined
  return {
    of(trail: string): Lease {
      const shared = (lease ??= createLease(`${trail}.lease`))
      return { hold: () => shared.hold(), close: async () => {} }
    },
    close: async () => lease?.close(),
  }
}

const minuteMs = 60_000

/** Writes to the log; of the receiver only its origin, since the rest of the URL may be secret. */
function reportTo(log: Logger, url: string, customer?: string): DeliveryEvents {
  const receiver = { receiver: new URL(url).origin, ...(customer !== undefined && { customer }) }
  let warnedAt = -Infinity
  return {
    onFailure(reason) {
      const now = performance.now()
      if (now - warnedAt < minuteMs) return
      warnedAt = now
      log.warn(
        { ...receiver, reason },
        'webhook: the event was not accepted; it will be sent again',
      )
    },
    onRecovery(failures) {
      warnedAt = -Infinity
      log.info({ ...receiver, failures }, 'webhook: events are accepted again')
    },
    onGone: () =>
      log.error(
        receiver,
        'webhook: the receiver wants no more events (410); none is sent until the next start',
      ),
    onLoss(reason, count) {
      const fields = { ...receiver, reason, count }
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
      log.error({ ...receiver, err }, 'webhook: the audit trail or the position cannot be used'),
  }
}
