import { setTimeout as delay } from 'node:timers/promises'
import {
  type Credential,
  type CredentialSource,
  type Customer,
  type FileService,
  type History,
  type Usage,
} from '@holdfast/core'
import type { Audit, AuditEvent } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import type { ServerWatch } from './server-watch.ts'

/** How long to wait between two sweeps, in milliseconds. */
const filePauseMs = 60 * 60 * 1000

/** How long to wait before all rules are noted again, in milliseconds. A rule that was not noted for three hours counts as new. */
const notePauseMs = 30 * 60 * 1000

/** How long before files go it is said at the latest, in milliseconds: longer than it takes to note all rules. */
const latestMs = 3 * 60 * 60 * 1000

export interface FileSweepOptions {
  readonly log: Logger
  /** All customers and their logins, as they are at each sweep. */
  readonly credentials: () => readonly Credential[]
  /** Finds a customer as it is now. */
  readonly find: CredentialSource['find']
  /** Records each deletion. Default: none. */
  readonly audit?: Audit | undefined
  /** Default: an hour between sweeps, and half an hour before the rules are noted again. */
  readonly pauseMs?: number
  /** The two clocks, in milliseconds. Default: those of the system. */
  readonly clocks?: Clocks
}

/**
 * Deletes the files that have expired: at once in the background, and then every hour, customer by customer. It logs what it deletes, what
 * it will delete once a new rule is a day old, and why it deletes nothing. A sweep is left out if the clock has jumped since the one
 * before. A sweep may take days: meanwhile the rules of all customers are noted, so that none counts as new when its turn comes. `close`
 * ends it.
 */
export function sweepFiles(
  service: Pick<FileService, 'expireFiles' | 'noteExpiry'>,
  options: FileSweepOptions,
): { close(): Promise<void> } {
  const { log, credentials, find, audit, clocks = systemClocks } = options
  const clockProblem = createClockGuard(clocks)
  /** From when on files will go as was logged, by customer, and whether their number was. */
  const announced = new Map<string, { readonly from: string; readonly isCounted: boolean }>()

  const leaveOut = (why: { readonly reason: string; readonly customer?: string }) =>
    log.error(why, 'no file expires until the next sweep')

  /** Logs from when on files of the customer will go, once for each time, and once more when their number is known. */
  const announce = (customer: string, begin: Date, files?: number) => {
    const from = begin.toISOString()
    const isCounted = files !== undefined
    const known = announced.get(customer)
    if (known?.from === from && (known.isCounted || !isCounted)) return
    announced.set(customer, { from, isCounted })
    log.warn({ customer, files, from }, 'files will expire')
  }

  const sweepCustomer = async (customer: Customer, signal: AbortSignal): Promise<void> => {
    const { name } = customer
    const outcome = await service.expireFiles?.(customer, {
      signal,
      onExpired: async ({ name: file, size: bytes }) =>
        audit?.(ownEvent('expire', { customer: name, file, bytes })),
      // A long call must not go on by a rule that was changed or taken back.
      isInForce: async () => hasSameRule(await find(name), customer),
    })
    if (outcome?.kind === 'wrong-clock')
      return leaveOut({ customer: name, reason: outcome.problem })
    if (outcome?.kind === 'waiting') return announce(name, outcome.until, outcome.due)
    if (outcome && outcome.expired > 0) {
      log.info({ customer: name, files: outcome.expired }, 'files expired')
    }
  }

  /** The customer whose files are being deleted; that call notes the rule itself. */
  let current: string | undefined

  /** Calls `work` for each customer with a rule. */
  const forEachRule = async (
    customers: Iterable<string>,
    end: SweepEnd,
    work: (customer: Customer) => Promise<void>,
  ) => {
    for (const name of customers) {
      if (end.hasCome()) return
      try {
        // The customers file may have changed since the sweep began.
        const found = await find(name)
        if (found?.expireAfterMs !== undefined) await work(withoutLogin(found))
      } catch (err) {
        // The store may be closed already.
        if (!end.hasCome()) log.warn({ customer: name, err }, 'files cannot expire')
      }
    }
  }

  const noting = repeatSweep(
    (end) =>
      forEachRule(expiring(credentials()), end, async (customer) => {
        if (customer.name === current) return
        const note = await service.noteExpiry?.(customer)
        if (note?.kind !== 'noted') return
        // The sweep says it earlier, and of how many files, unless it takes a day to come to the customer.
        const leftMs = note.from.getTime() - clocks().wall
        if (leftMs > 0 && leftMs <= latestMs) announce(customer.name, note.from)
      }),
    options.pauseMs ?? notePauseMs,
  )
  const sweeping = repeatSweep(async (end) => {
    const reason = clockProblem()
    if (reason !== undefined) return leaveOut({ reason })
    await forEachRule(fromAnywhere(expiring(credentials())), end, async (customer) => {
      current = customer.name
      await sweepCustomer(customer, end.signal).finally(() => (current = undefined))
    })
  }, options.pauseMs ?? filePauseMs)
  return {
    close: async () => void (await Promise.all([noting.close(), sweeping.close()])),
  }
}

/** Whether files of the customer still expire as they did, and are kept as long after that. */
function hasSameRule(now: Customer | undefined, before: Customer): boolean {
  const { expireAfterMs, keepReplacedMs } = before
  return now?.expireAfterMs === expireAfterMs && now?.keepReplacedMs === keepReplacedMs
}

/** The names of the customers with a rule. */
function expiring(credentials: readonly Credential[]): string[] {
  return credentials
    .filter(({ login, expireAfterMs }) => login === undefined && expireAfterMs !== undefined)
    .map(({ name }) => name)
}

/** The same values, beginning with a random one: a process that never comes to the end of a sweep comes to each value at some time. */
function fromAnywhere<T>(values: readonly T[]): T[] {
  const first = Math.floor(Math.random() * values.length)
  return [...values.slice(first), ...values.slice(0, first)]
}

/** How long to wait between two sweeps, in milliseconds. */
const keptPauseMs = 10 * 60 * 1000

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
 * Removes earlier versions that are too old or too many: at once in the background, and then every ten minutes, customer by customer. For
 * customers who are no longer in the file, the service's own rule holds. It logs what it removes, and why it removes nothing. A sweep is
 * left out if the clock has jumped since the one before. `close` ends it.
 */
export function sweepKept(
  service: Pick<FileService, 'purgeKept'>,
  options: KeptSweepOptions,
): { close(): Promise<void> } {
  const { log, history, credentials, audit, watch } = options
  const clockProblem = createClockGuard(options.clocks)

  /** Resolves with how much the customer still has of earlier versions. */
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
  }, options.pauseMs ?? keptPauseMs)
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
      .map((credential) => [credential.name, withoutLogin(credential)]),
  )
}

function withoutLogin({
  passwordHash: _,
  endsAtMs: __,
  may: ___,
  ...customer
}: Credential): Customer {
  return customer
}

/** An amount of earlier versions, as fields of a line of the log. */
export function fieldsOf({ blobs, bytes }: Usage): { readonly versions: number; bytes: number } {
  return { versions: blobs, bytes }
}

/** The event for what was removed of a customer before its time. */
export function purgeEvent(customer: string, removed: Usage): AuditEvent {
  return ownEvent('purge', { customer, file: undefined, ...fieldsOf(removed) })
}

/** An event that no request has caused. */
function ownEvent(
  event: 'expire' | 'purge',
  what: Pick<AuditEvent, 'customer' | 'file' | 'bytes' | 'versions'>,
): AuditEvent {
  const request = { requestId: undefined, address: undefined }
  return { time: new Date(), event, outcome: 'ok', reason: undefined, ...what, ...request }
}

/** How long to wait between two sweeps, in milliseconds. A bucket needs several in an hour, to find publications that broke off. */
const uploadPauseMs = 15 * 60 * 1000

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
  return repeatSweep(async (end) => {
    try {
      const uploads = await service.sweepUploads()
      if (uploads === 0) return
      options.onExpired?.(uploads)
      log.info({ uploads }, 'expired uploads were removed')
    } catch (err) {
      // The store may be closed already.
      if (!end.hasCome()) log.warn({ err }, 'expired uploads cannot be removed')
    }
  }, options.pauseMs ?? uploadPauseMs)
}

/** How long `close` waits for a sweep under way, in milliseconds. The next sweep goes on. */
const patienceMs = 1_000

/** After a slow sweep the pause is this many times as long as the sweep, up to `longestRestMs`. */
const timesSweep = 10
const longestRestMs = 50 * 60 * 1000

/** Whether the sweeps are to end. */
interface SweepEnd {
  readonly signal: AbortSignal
  /** Whether `signal` has aborted. */
  readonly hasCome: () => boolean
}

/**
 * Runs `sweep` at once in the background, and then again `pauseMs` after each end; after one that took long, ten times as long, so that
 * sweeps take at most a tenth of the time, but at most 50 minutes or `pauseMs`. `sweep` must not reject. `close` brings its end, and waits
 * at most a second for a sweep under way.
 */
export function repeatSweep(
  sweep: (end: SweepEnd) => Promise<void>,
  pauseMs: number,
): { close(): Promise<void> } {
  const closing = new AbortController()
  const end = { signal: closing.signal, hasCome: () => closing.signal.aborted }
  let timer: NodeJS.Timeout | undefined
  const run = async () => {
    const since = performance.now()
    await sweep(end)
    const rest = Math.min(timesSweep * (performance.now() - since), longestRestMs)
    if (!end.hasCome()) timer = setTimeout(begin, Math.max(pauseMs, rest)).unref()
  }
  const begin = () => {
    sweeping = run()
  }
  let sweeping = run()
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

/** The two clocks of a system, in milliseconds. */
export type Clocks = () => { readonly wall: number; readonly monotonic: number }

/** How far the wall clock may move against the monotonic one between two looks, in milliseconds. */
const toleranceMs = 60_000

/**
 * Notices jumps of the wall clock, after which the age of files is uncertain. The result says that the clock has jumped since the look
 * before, and how far; `undefined` if it has not. Default: the clocks of the system.
 */
function createClockGuard(clocks: Clocks = systemClocks): () => string | undefined {
  let last = clocks()
  return () => {
    const now = clocks()
    const moved = now.wall - last.wall - (now.monotonic - last.monotonic)
    last = now
    if (Math.abs(moved) <= toleranceMs) return undefined
    return `the clock has jumped by ${Math.round(moved / 1000)} s`
  }
}

function systemClocks() {
  return { wall: Date.now(), monotonic: performance.now() }
}
