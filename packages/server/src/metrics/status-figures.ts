import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { ServerStatus } from '../serve/server-status.ts'

/** How long figures wait for a disk, or a check, that does not answer, in milliseconds. */
const patienceMs = 2_000

/** Gauges of the server as a whole, read at each scrape. `isReady` is the result of `/ready`. */
export function createStatusFigures(
  register: Registry,
  { store, customers, certificate }: ServerStatus,
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
    'Whether the server is ready: 1; 0 where it is not, or where it takes long to say.',
    async () => ((await within(patienceMs, isReady)) ? 1 : 0),
  )
  gauge('customers', 'How many customers there are.', () => customers().count)
  if (store.freeSpace) {
    gauge('store_free_bytes', 'Room that is left on the disk of the store.', store.freeSpace)
  }
  if (certificate) {
    gauge(
      'certificate_expiry_timestamp_seconds',
      'When the certificate in force expires, in seconds since 1970.',
      () => certificate().expires.getTime() / 1000,
    )
  }
}

/** What `read` gives within `ms`; `undefined` where it takes longer, or fails. */
async function within<T>(ms: number, read: () => Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = delay(ms, undefined, { signal: timer.signal }).catch(() => undefined)
  const value = await Promise.race([read().catch(() => undefined), late])
  timer.abort()
  return value
}
