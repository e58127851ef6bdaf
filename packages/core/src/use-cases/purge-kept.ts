import type { Customer } from '../model/customer.ts'
import type { Usage } from '../ports/blob.ts'
import type { History, KeptBlob } from '../ports/history.ts'

/** What is needed to remove what need not be kept any more. */
export interface PurgePolicy {
  readonly history: History
  readonly now: () => number
  /** How long what the customer's calls replace is kept, in milliseconds; `undefined` if nothing says that, and then nothing is removed. */
  readonly keepMsOf: (customer: Customer) => number | undefined
  /** The most bytes that are kept of what was replaced; `Infinity` for no limit. */
  readonly keepQuotaOf: (customer: Customer) => number
}

/** What {@link purgeKept} has removed and left. */
export interface PurgeOutcome {
  /** What was removed since its time had passed. */
  readonly outdated: Usage
  /** What was removed before its time, since more was kept than `keepQuota`. */
  readonly surplus: Usage
  /** What is still kept. */
  readonly kept: Usage
}

/**
 * Removes what was replaced or deleted longer ago than the customer's calls keep it, and then the oldest, as long as more is kept than
 * `keepQuota` allows. Call it from time to time for each customer for whom something is kept. It may be ended at any time.
 *
 * @throws FileServiceError `store-unavailable`
 */
export async function purgeKept(policy: PurgePolicy, customer: Customer): Promise<PurgeOutcome> {
  const { history, now, keepMsOf, keepQuotaOf } = policy
  const keepMs = keepMsOf(customer)
  const outdated =
    keepMs === undefined ? none : await history.purge(customer.name, new Date(now() - keepMs))
  const quota = keepMs === undefined ? Infinity : keepQuotaOf(customer)
  const found = await measureKept(history.kept(customer.name), quota)
  if (found.usage.bytes <= quota) return { outdated, surplus: none, kept: found.usage }
  const surplus = await history.purge(customer.name, found.cutoff)
  const kept = {
    blobs: Math.max(0, found.usage.blobs - surplus.blobs),
    bytes: Math.max(0, found.usage.bytes - surplus.bytes),
  }
  return { outdated, surplus, kept }
}

/**
 * Removes the oldest that is kept for any of the customers, until so many bytes are free, or nothing is left; resolves with what was
 * removed for each customer. It is for a disk that is nearly full.
 */
export async function freeKept(
  { history }: Pick<PurgePolicy, 'history'>,
  bytes: number,
): Promise<ReadonlyMap<string, Usage>> {
  const ages = createAges()
  const customers: string[] = []
  for await (const customer of history.customers()) {
    customers.push(customer)
    for await (const page of history.kept(customer)) page.forEach(ages.add)
  }
  const removed = new Map<string, Usage>()
  const before = ages.cutoff(ages.usage().bytes - bytes)
  for (const customer of customers) {
    const purged = await history.purge(customer, before)
    if (purged.blobs > 0) removed.set(customer, purged)
  }
  return removed
}

const none: Usage = { blobs: 0, bytes: 0 }

async function measureKept(
  pages: AsyncIterable<readonly KeptBlob[]>,
  quota: number,
): Promise<{ readonly usage: Usage; readonly cutoff: Date }> {
  const ages = createAges()
  for await (const page of pages) page.forEach(ages.add)
  return { usage: ages.usage(), cutoff: ages.cutoff(quota) }
}

/** The most periods that are distinguished. Above that, two neighbours become one. */
const mostPeriods = 4096

/** Sums what is kept by the second in which it was replaced; if there are too many, by longer periods. Memory stays bounded. */
function createAges() {
  let periodMs = 1000
  let periods = new Map<number, number>()
  let usage = none

  const add = ({ replacedAt, size }: KeptBlob) => {
    usage = { blobs: usage.blobs + 1, bytes: usage.bytes + size }
    const period = Math.floor(replacedAt.getTime() / periodMs)
    periods.set(period, (periods.get(period) ?? 0) + size)
    while (periods.size > mostPeriods) {
      const longer = new Map<number, number>()
      for (const [at, bytes] of periods) {
        const half = Math.floor(at / 2)
        longer.set(half, (longer.get(half) ?? 0) + bytes)
      }
      periods = longer
      periodMs *= 2
    }
  }

  return {
    add,
    usage: () => usage,
    /** The time before which everything must go so that at most `bytes` stay. */
    cutoff(bytes: number): Date {
      let left = usage.bytes
      for (const [period, size] of [...periods].sort(([one], [other]) => one - other)) {
        if (left <= bytes) return new Date(period * periodMs)
        left -= size
      }
      const last = Math.max(...periods.keys(), 0)
      return new Date((last + 1) * periodMs)
    },
  }
}
