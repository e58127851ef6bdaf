import type { Credential, Customer, FileService } from '@holdfast/core'
import type { Audit } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import { createClockGuard, repeatSweep, type Clocks } from './repeat-sweep.ts'

/** How long to wait between two sweeps, in milliseconds. `expireFiles` takes a rule that was not applied for three hours for a new one. */
const pauseMs = 60 * 60 * 1000

export interface FileSweepOptions {
  readonly log: Logger
  /** All customers and their logins, as they are at each sweep. */
  readonly credentials: () => readonly Credential[]
  /** Records each deletion. Default: none. */
  readonly audit?: Audit | undefined
  /** Default: an hour. */
  readonly pauseMs?: number
  /** The two clocks, in milliseconds. Default: those of the system. */
  readonly clocks?: Clocks
}

/**
 * Deletes the files that have expired: at once in the background, and then every hour, customer by customer. It logs what it deletes, what
 * it will delete once a new rule is a day old, and why it deletes nothing. A sweep is left out if the clock has jumped since the one
 * before. `close` ends it.
 */
export function sweepFiles(
  service: Pick<FileService, 'expireFiles'>,
  options: FileSweepOptions,
): { close(): Promise<void> } {
  const { log, credentials, audit } = options
  const clockProblem = createClockGuard(options.clocks)
  /** The rules that were logged as waiting, by customer. */
  const announced = new Map<string, string>()

  const leaveOut = (why: { readonly reason: string; readonly customer?: string }) =>
    log.error(why, 'no file expires until the next sweep')

  const sweepCustomer = async (customer: Customer, signal: AbortSignal): Promise<void> => {
    const { name } = customer
    const outcome = await service.expireFiles?.(customer, {
      signal,
      onExpired: (file) =>
        audit?.({
          ...{ time: new Date(), event: 'expire', outcome: 'ok', reason: undefined },
          ...{ customer: name, file: file.name, bytes: file.size },
          ...{ requestId: undefined, address: undefined },
        }),
    })
    if (outcome?.kind === 'done') {
      announced.delete(name)
      if (outcome.expired > 0) log.info({ customer: name, files: outcome.expired }, 'files expired')
    }
    if (outcome?.kind === 'wrong-clock') {
      leaveOut({ customer: name, reason: outcome.problem })
    }
    if (outcome?.kind === 'waiting') {
      const { until, due } = outcome
      const from = until.toISOString()
      if (announced.get(name) !== from) {
        const fields = { customer: name, files: due, from }
        log.warn(fields, 'files will expire')
      }
      announced.set(name, from)
    }
  }

  return repeatSweep(async (end) => {
    const reason = clockProblem()
    if (reason !== undefined) return leaveOut({ reason })
    for (const credential of credentials()) {
      const { passwordHash: _, endsAtMs: __, may: ___, ...customer } = credential
      if (customer.expireAfterMs === undefined || customer.login !== undefined) continue
      if (end.hasCome()) break
      try {
        await sweepCustomer(customer, end.signal)
      } catch (err) {
        // The store may be closed already.
        if (!end.hasCome()) log.warn({ customer: customer.name, err }, 'files cannot expire')
      }
    }
  }, options.pauseMs ?? pauseMs)
}
