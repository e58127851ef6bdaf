import type { Credential, Customer, FileService, History, Usage } from '@holdfast/core'
import type { Audit } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import { createClockGuard, repeatSweep, type Clocks } from './repeat-sweep.ts'
import type { ServerWatch } from './server-watch.ts'

/** How long to wait between two sweeps, in milliseconds. */
const pauseMs = 10 * 60 * 1000

export interface KeptSweepOptions {
  readonly log: Logger
  readonly history: Pick<History, 'customers'>
  /** All customers and their logins, as they are at each sweep. */
  readonly credentials: () => readonly Credential[]
  /** Records what is removed before its time, one event for each customer. Default: none. */
  readonly audit?: Audit | undefined
  readonly watch: Pick<ServerWatch, 'onPurged' | 'onKept'>
  /** Default: ten minutes. */
  readonly pauseMs?: number
  /** Default: those of the system. */
  readonly clocks?: Clocks
}

/**
 * Removes what need not be kept any more: at once in the background, and then every ten minutes, customer by customer. What is kept of
 * customers who are no longer in the file goes by the service's own rule. It logs what it removes, and why it removes nothing. A sweep is
 * left out if the clock has jumped since the one before. `close` ends it.
 */
export function sweepKept(
  service: Pick<FileService, 'purgeKept'>,
  options: KeptSweepOptions,
): { close(): Promise<void> } {
  const { log, history, credentials, audit, watch } = options
  const clockProblem = createClockGuard(options.clocks)

  /** Resolves with what is still kept for the customer. */
  const sweepCustomer = async (customer: Customer): Promise<Usage> => {
    const outcome = await service.purgeKept?.(customer)
    if (outcome === undefined) return none
    const { outdated, surplus, kept } = outcome
    const { name } = customer
    if (outdated.blobs > 0) {
      log.info({ customer: name, ...fieldsOf(outdated) }, 'outdated versions were removed')
      watch.onPurged('outdated', outdated.bytes)
    }
    if (surplus.blobs > 0) {
      log.info({ customer: name, ...fieldsOf(surplus) }, 'versions beyond the limit were removed')
      watch.onPurged('surplus', surplus.bytes)
      await audit?.(purgeEvent(name, surplus))
    }
    return kept
  }

  const reportFailure = (failure: { readonly err: unknown; readonly customer?: string }) =>
    log.warn(failure, 'versions cannot be removed')

  return repeatSweep(async (end) => {
    const reason = clockProblem()
    if (reason !== undefined) {
      return log.error({ reason }, 'no version is removed until the next sweep')
    }
    let kept = none
    try {
      const known = ownCredentials(credentials())
      for await (const name of history.customers()) {
        if (end.hasCome()) return
        try {
          kept = sum(kept, await sweepCustomer(known.get(name) ?? { name }))
        } catch (err) {
          if (!end.hasCome()) reportFailure({ customer: name, err })
        }
      }
      watch.onKept(kept)
    } catch (err) {
      // The store may be closed already.
      if (!end.hasCome()) reportFailure({ err })
    }
  }, options.pauseMs ?? pauseMs)
}

const none: Usage = { blobs: 0, bytes: 0 }

function sum(one: Usage, other: Usage): Usage {
  return { blobs: one.blobs + other.blobs, bytes: one.bytes + other.bytes }
}

/** The customers by name, without what belongs to a login. */
function ownCredentials(credentials: readonly Credential[]): ReadonlyMap<string, Customer> {
  return new Map(
    credentials
      .filter(({ login }) => login === undefined)
      .map(({ passwordHash: _, endsAtMs: __, may: ___, ...customer }) => [customer.name, customer]),
  )
}

/** An amount of what was kept, as fields of a line of the log. */
export function fieldsOf({ blobs, bytes }: Usage): { readonly versions: number; bytes: number } {
  return { versions: blobs, bytes }
}

/** The event for what was removed of a customer before its time. */
export function purgeEvent(customer: string, removed: Usage): Parameters<Audit>[0] {
  return {
    ...{ time: new Date(), event: 'purge', outcome: 'ok', reason: undefined },
    ...{ customer, file: undefined, ...fieldsOf(removed) },
    ...{ requestId: undefined, address: undefined },
  }
}
