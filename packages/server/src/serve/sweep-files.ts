import { setTimeout as delay } from 'node:timers/promises'
import type { Credential, Customer, FileService } from '@holdfast/core'
import type { Audit } from '@holdfast/http-koa'
import type { Logger } from 'pino'

/** How long to wait between two sweeps, in milliseconds. `expireFiles` takes a rule that was not applied for three hours for a new one. */
const pauseMs = 60 * 60 * 1000

/** How far the wall clock may move against the monotonic one between two sweeps, in milliseconds. */
const toleranceMs = 60_000

/** How long `close` waits for a sweep under way, in milliseconds. The next sweep goes on. */
const patienceMs = 1_000

export interface FileSweepOptions {
  readonly log: Logger
  /** All customers and their logins, as they are at each sweep. */
  readonly credentials: () => readonly Credential[]
  /** Records each deletion. Default: none. */
  readonly audit?: Audit | undefined
  /** Default: an hour. */
  readonly pauseMs?: number
  /** The two clocks, in milliseconds. Default: those of the system. */
  readonly clocks?: () => { readonly wall: number; readonly monotonic: number }
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
  const { log, credentials, audit, clocks = systemClocks } = options
  const closing = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let last = clocks()
  /** The rules that were logged as waiting, by customer. */
  const announced = new Map<string, string>()

  const isClosing = () => closing.signal.aborted

  const hasJumped = () => {
    const now = clocks()
    const moved = now.wall - last.wall - (now.monotonic - last.monotonic)
    last = now
    if (Math.abs(moved) <= toleranceMs) return false
    const seconds = Math.round(moved / 1000)
    log.error(
      { reason: `the clock has jumped by ${seconds} s` },
      'no file expires until the next sweep',
    )
    return true
  }

  const sweepCustomer = async (customer: Customer): Promise<void> => {
    const { name } = customer
    const outcome = await service.expireFiles?.(customer, {
      signal: closing.signal,
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
      log.error({ customer: name, reason: outcome.problem }, 'no file expires until the next sweep')
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

  const sweep = async () => {
    const jumped = hasJumped()
    for (const credential of jumped ? [] : credentials()) {
      const { passwordHash: _, endsAtMs: __, may: ___, ...customer } = credential
      if (customer.expireAfterMs === undefined || customer.login !== undefined) continue
      if (isClosing()) break
      try {
        await sweepCustomer(customer)
      } catch (err) {
        // The store may be closed already.
        if (!isClosing()) log.warn({ customer: customer.name, err }, 'files cannot expire')
      }
    }
    if (!isClosing()) timer = setTimeout(begin, options.pauseMs ?? pauseMs).unref()
  }
  const begin = () => {
    sweeping = sweep()
  }
  let sweeping = sweep()
  return {
    async close() {
      closing.abort()
      clearTimeout(timer)
      const patience = new AbortController()
      await Promise.race([sweeping, delay(patienceMs, undefined, patience).catch(() => {})])
      patience.abort()
    },
  }
}

function systemClocks() {
  return { wall: Date.now(), monotonic: performance.now() }
}
