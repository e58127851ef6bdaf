import type { BlobStore } from '../ports/blob-store.ts'

/** A limit on the number of a customer's files whose names begin with a prefix. */
export interface FilesUnderPrefix {
  readonly prefix: string
  readonly maxFiles: number
}

/** Counts the files of customers under prefixes, and caches the counts for a short time. */
export interface PrefixCounts {
  /**
   * Whether there are fewer than `maxFiles`. A cached count includes what this process has published since. It may miss the files of
   * others for a second, or for twenty times as long as counting takes, but at most for a minute. The call never resolves with
   * `false` without asking the store.
   */
  hasRoom(customer: string, bound: FilesUnderPrefix): Promise<boolean>
  /** Call this when a file with this name was published. */
  add(customer: string, name: string): void
  /** Drops the cached counts of the customer, since others may have published files. */
  forget(customer: string): void
}

interface Count {
  readonly prefix: string
  readonly startedAt: number
  /** How many files the store has listed, at most `maxFiles`. */
  readonly listed: Promise<number>
  /** The names that were published since `startedAt`; the list may include them, too. */
  readonly added: Set<string>
  /** When the count becomes too old; `Infinity` while it is under way. */
  endsAt: number
}

/** How long a count is kept, in milliseconds. */
const shortestAgeMs = 1_000
const longestAgeMs = 60_000
const timesCounting = 20

/** Limits of memory. Beyond them a count is dropped, and the store is asked sooner. */
const mostCustomers = 256
const mostPrefixes = 8
const mostAdded = 64

/** How often the store is asked if files are published meanwhile, which its list may include or not. */
const mostAttempts = 3

export function createPrefixCounts(
  store: Pick<BlobStore, 'list'>,
  now = () => performance.now(),
): PrefixCounts {
  const customers = new Map<string, Map<string, Count>>()

  const begin = (customer: string, key: string, bound: FilesUnderPrefix): Count => {
    const counts = customers.get(customer) ?? new Map<string, Count>()
    // Moved to the end, so that the customers that were counted last are kept.
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
