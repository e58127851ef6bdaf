import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { isFileServiceError } from '@holdfast/core'
import { Gauge, Histogram, type Registry, AggregatorRegistry, Counter } from 'prom-client'
import type {
  ServerWatch,
  Reloadable,
  ServerStatus,
  WorkersState,
  MetricValues,
} from '../serve/server-watch.ts'

/** The label of refused logins by their code. */
const refusals: Readonly<Record<string, string>> = {
  'missing-credentials': 'missing',
  'invalid-credentials': 'refused',
  'too-many-attempts': 'braked',
  overloaded: 'overloaded',
}

const outcomes = ['accepted', ...Object.values(refusals), 'abandoned', 'failed']

/** Metrics of logins, one at every request of a customer, and of the password hashes that were computed for them. */
export function createLoginMetrics(
  register: Registry,
): Required<Pick<ServerWatch, 'onLogin' | 'verifyPassword'>> {
  const registers = [register]
  const logins = createCounts(register, {
    name: 'holdfast_logins_total',
    help: 'Logins, one for each request of a customer, by outcome.',
    labelNames: ['outcome'],
  })
  const [accepted] = outcomes.map((outcome) => logins(outcome))
  const checks = new Histogram({
    name: 'holdfast_password_check_duration_seconds',
    help: 'How long checks of passwords took that were not remembered, waiting included.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  let underWay = 0
  new Gauge({
    name: 'holdfast_password_checks_under_way',
    help: 'Passwords that are being hashed, or wait for it.',
    registers,
    collect() {
      this.set(underWay)
    },
  })

  const time = async (verdict: Promise<boolean>) => {
    const begin = performance.now()
    underWay++
    try {
      return await verdict
    } finally {
      underWay--
      checks.observe((performance.now() - begin) / 1000)
    }
  }
  return {
    onLogin({ request, error }) {
      if (error === undefined) accepted?.add()
      else logins(outcomeOf(error, request)).add()
    },
    verifyPassword:
      (verify) =>
      (...attempt) => {
        const verdict = verify(...attempt)
        return verdict instanceof Promise ? time(verdict) : verdict
      },
  }
}

function outcomeOf(error: unknown, { socket }: IncomingMessage): string {
  const refusal = isFileServiceError(error) ? refusals[error.code] : undefined
  return refusal ?? (socket.destroyed ? 'abandoned' : 'failed')
}

interface ReloadMetrics extends Pick<ServerWatch, 'onReload'> {
  /** From now on asks `isRefused` whether the old version is in use, which is more exact than the last `onReload`. */
  ask(what: Reloadable, isRefused: () => boolean): void
}

const reloadables: readonly Reloadable[] = ['customers', 'certificate', 'audit']

/** Metrics of reloads while the server runs: of the customers, the certificate, the audit trail's file. */
export function createReloadMetrics(register: Registry): ReloadMetrics {
  const registers = [register]
  const labelNames = ['what']
  const reloads = createCounts(register, {
    name: 'holdfast_reloads_total',
    help: 'Reloads of the customers and the certificate, and reopenings of the audit trail, by outcome.',
    labelNames: ['what', 'outcome'],
  })
  const taken = new Gauge({
    name: 'holdfast_reload_last_taken_timestamp_seconds',
    help: 'When a change was last accepted, in seconds since 1970; the start of the process counts.',
    labelNames,
    registers,
  })
  const states = new Map<Reloadable, () => boolean>()
  new Gauge({
    name: 'holdfast_reload_refused',
    help: '1 if the present file is refused, so that the earlier version stays in use; otherwise 0.',
    labelNames,
    registers,
    collect() {
      for (const [what, isRefused] of states) this.labels(what).set(isRefused() ? 1 : 0)
    },
  })
  const asked = new Set<Reloadable>()
  for (const what of reloadables) {
    reloads(what, 'taken')
    reloads(what, 'refused')
    taken.labels(what).setToCurrentTime()
    states.set(what, () => false)
  }
  return {
    onReload(what, isTaken) {
      reloads(what, isTaken ? 'taken' : 'refused').add()
      if (isTaken) taken.labels(what).setToCurrentTime()
      if (!asked.has(what)) states.set(what, () => !isTaken)
    },
    ask(what, isRefused) {
      asked.add(what)
      states.set(what, isRefused)
    },
  }
}

/** How long a scrape waits for a disk, or a check, that does not answer, in milliseconds. */
const patienceMs = 2_000

/** Gauges of the whole server, read at each scrape. `isReady` returns the result of `/ready`. */
export function createStatusMetrics(
  register: Registry,
  { store, customers, certificate, shared, events }: ServerStatus,
  isReady: () => Promise<boolean>,
): void {
  const gauge = (name: string, help: string, read: () => Promise<number | undefined> | number) =>
    new Gauge({
      name: `holdfast_${name}`,
      help,
      registers: [register],
      async collect() {
        const value = await within(patienceMs, async () => read())
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })

  gauge(
    'ready',
    '1 if the server is ready; 0 if it is not, or does not answer in time.',
    async () => ((await within(patienceMs, isReady)) ? 1 : 0),
  )
  gauge('customers', 'How many customers there are.', () => customers().count)
  if (store.freeSpace) {
    gauge('store_free_bytes', 'Free bytes on the disk of the store.', store.freeSpace)
  }
  if (shared) {
    gauge(
      'shared_up',
      '1 if the server counts together with others; 0 if it counts for itself, since Valkey or Redis is away.',
      () => (shared().awayReason === undefined ? 1 : 0),
    )
    gauge(
      'shared_servers',
      'Servers that count together, this one included.',
      () => shared().servers,
    )
  }
  if (events) createWebhookMetrics(register, events)
  if (certificate) {
    gauge(
      'certificate_expiry_timestamp_seconds',
      'When the certificate in use expires, in seconds since 1970.',
      () => certificate().expires.getTime() / 1000,
    )
  }
}

/** Metrics of the events that are delivered: to the server's receiver, and to those of all customers together. */
function createWebhookMetrics(register: Registry, events: NonNullable<ServerStatus['events']>) {
  const states = () => {
    const ofServer = events.ofServer()
    return { server: ofServer ? [ofServer] : [], customers: events.ofCustomers() }
  }
  const delay = new Gauge({
    name: 'holdfast_webhook_delay_seconds',
    help: 'How old the oldest change is whose event waits to be accepted; 0 if none waits.',
    labelNames: ['receiver'],
    registers: [register],
    collect() {
      delay.reset()
      for (const [receiver, all] of Object.entries(states())) {
        const longest = Math.max(...all.map(({ delayMs }) => delayMs))
        if (all.length > 0) delay.set({ receiver }, longest / 1000)
      }
    },
  })
  new Gauge({
    name: 'holdfast_webhook_failed_customers',
    help: 'Customers with a webhook who get no events, since the delivery cannot begin.',
    registers: [register],
    collect() {
      this.set(events.failedCustomers())
    },
  })
  const counter = new Counter({
    name: 'holdfast_webhook_events_total',
    help: 'Events that were accepted or given up, and attempts that failed.',
    labelNames: ['receiver', 'outcome'],
    registers: [register],
    collect() {
      counter.reset()
      for (const [receiver, all] of Object.entries(states())) {
        for (const { accepted, failed, expired } of all) {
          counter.inc({ receiver, outcome: 'accepted' }, accepted)
          counter.inc({ receiver, outcome: 'failed' }, failed)
          counter.inc({ receiver, outcome: 'expired' }, expired)
        }
      }
    },
  })
}

/** The result of `read`; `undefined` if it takes longer than `ms` milliseconds, or fails. */
async function within<T>(ms: number, read: () => Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = delay(ms, undefined, { signal: timer.signal }).catch(() => undefined)
  const value = await Promise.race([read().catch(() => undefined), late])
  timer.abort()
  return value
}

/** Metrics about the workers. The returned function collects the workers' own metrics; call it before the registry. */
export function createWorkerMetrics(
  register: Registry,
  workers: WorkersState,
): () => Promise<readonly MetricValues[]> {
  const registers = [register]
  let silent = 0
  new Gauge({
    name: 'holdfast_workers',
    help: 'Workers that serve.',
    registers,
    collect() {
      this.set(workers.count())
    },
  })
  new Gauge({
    name: 'holdfast_workers_silent',
    help: 'Workers whose metrics are missing, since they did not answer in time.',
    registers,
    collect() {
      this.set(silent)
    },
  })
  const deaths = createCounts(register, {
    name: 'holdfast_worker_deaths_total',
    help: 'Workers that ended unexpectedly and were replaced.',
    labelNames: [],
  })()
  workers.onDeath(() => deaths.add())
  return async () => {
    const answers = await workers.metrics()
    const known = answers.filter((values) => values !== undefined)
    silent = answers.length - known.length
    return known
  }
}

/**
 * The metrics of several processes as text for Prometheus. Each metric has the label of its process, so that nothing is added up:
 * otherwise, when a process crashes or does not answer, a sum would shrink, as if a counter had been reset.
 */
export function mergeMetrics(all: readonly MetricValues[]): Promise<string> {
  const kept = all.map((values) =>
    // Otherwise prom-client omits some.
    values.map((metric) => ({ ...metric, aggregator: 'sum' })),
  )
  return AggregatorRegistry.aggregate(kept).metrics()
}

/** One counter, with its labels. */
interface Count {
  add(by?: number): void
}

interface CountsOptions<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly Label[]
}

/**
 * A counter by labels, whose values are passed in the order of their names. To count is only one addition, since it happens at every
 * request; prom-client gets the values at a scrape. A count is exported from its creation on, at first as 0: Prometheus does not see
 * the first increase of a counter that begins with 1.
 */
export function createCounts<Label extends string>(
  register: Registry,
  { name, help, labelNames }: CountsOptions<Label>,
): (...values: readonly string[]) => Count {
  const counts = new Map<string, ReturnType<typeof createCount>>()
  const counter = new Counter<string>({
    name,
    help,
    labelNames: [...labelNames],
    registers: [register],
    collect() {
      for (const count of counts.values()) counter.inc(count.labels, count.take())
    },
  })
  return (...values) => {
    const key = values.join(' ')
    const known = counts.get(key)
    if (known) return known
    const count = createCount(labelNames, values)
    counts.set(key, count)
    return count
  }
}

function createCount(names: readonly string[], values: readonly string[]) {
  let pending = 0
  return {
    labels: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])),
    add(by = 1) {
      pending += by
    },
    take() {
      const taken = pending
      pending = 0
      return taken
    },
  }
}
