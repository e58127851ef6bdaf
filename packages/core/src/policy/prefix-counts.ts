import type { BlobStore } from '../ports/blob-store.ts'

/** A bound on the files of a customer whose names begin in one way. */
export interface FilesUnderPrefix {
  readonly prefix: string
  readonly maxFiles: number
}

/** Counts the files of customers whose names begin in one way, and keeps the counts for a while. */
export interface PrefixCounts {
  /**
   * Whether there are fewer than `maxFiles`. What this process has published since the count is known; what others have stored
   * may not be for a second, or for twenty times as long as counting takes, a minute at most. Before it resolves to `false`,
   * the store has been asked.
   */
  hasRoom(customer: string, bound: FilesUnderPrefix): Promise<boolean>
  /** A file of this name has been published. */
  add(customer: string, name: string): void
  /** Others may have published files of the customer. */
  forget(customer: string): void
}

interface Count {
  readonly prefix: string
  readonly startedAt: number
  /** How many files the store has listed, `maxFiles` at most. */
  readonly listed: Promise<number>
  /** What has been published since `startedAt`; the list may have it, too. */
  readonly added: Set<string>
  /** When the count is too old; `Infinity` while it is under way. */
  endsAt: number
}

/** How long a count is kept, in milliseconds. */
const shortestAgeMs = 1_000
const longestAgeMs = 60_000
const timesCounting = 20

/** Bounds of memory. Beyond them a count is dropped, and the store is asked sooner. */
const mostCustomers = 256
const mostPrefixes = 8
const mostAdded = 64

/** How often the store is asked while files are published that its list may have or not. */
const mostAttempts = 3

export function createPrefixCounts(
  store: Pick<BlobStore, 'list'>,
  now: () => number,
): PrefixCounts {
  const customers = new Map<string, Map<string, Count>>()

  const begin = (customer: string, key: string, bound: FilesUnderPrefix): Count => {
    const counts = customers.get(customer) ?? new Map<string, Count>()
    // Those that were counted last stay.
    customers.delete(customer)
    customers.set(customer, counts)
    dropOldest(customers, mostCustomers)
    const startedAt = now()
    const listed = countFiles(store, customer, bound)
    const { prefix } = bound
    const count: Count = { prefix, startedAt, listed, added: new Set(), endsAt: Infinity }
    counts.delete(key)
    counts.set(key, count)
    dropOldest(counts, mostPrefixes)
    listed.then(
      () => {
        const age = Math.max(shortestAgeMs, timesCounting * (now() - startedAt))
        count.endsAt = startedAt + Math.min(longestAgeMs, age)
      },
      () => void (count.endsAt = -Infinity),
    )
    return count
  }

  return {
    async hasRoom(customer, bound) {
      const key = `${bound.maxFiles}/${bound.prefix}`
      const kept = customers.get(customer)?.get(key)
      const isNew = kept !== undefined && now() < kept.endsAt
      if (isNew && (await filesOf(kept)) < bound.maxFiles) return true
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const count = begin(customer, key, bound)
        if ((await filesOf(count)) < bound.maxFiles) return true
        if (count.added.size === 0) return false
      }
      return false
    },
    add(customer, name) {
      const counts = customers.get(customer)
      if (counts === undefined) return
      for (const [key, { prefix, added }] of counts) {
        if (!name.startsWith(prefix)) continue
        added.add(name)
        if (added.size > mostAdded) counts.delete(key)
      }
    },
    forget: (customer) => void customers.delete(customer),
  }
}

async function filesOf({ listed, added }: Count): Promise<number> {
  const files = await listed
  return files + added.size
}

async function countFiles(
  store: Pick<BlobStore, 'list'>,
  customer: string,
  { prefix, maxFiles }: FilesUnderPrefix,
): Promise<number> {
  let files = 0
  for await (const names of store.list(customer, { prefix, limit: maxFiles })) files += names.length
  return files
}

function dropOldest<Value>(map: Map<string, Value>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
