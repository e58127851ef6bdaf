import { uploadsExceeded } from '../model/quota-errors.ts'

interface Identified {
  readonly id: string
}

/** Knows the unfinished uploads of every customer who has begun one. */
export interface UploadCounter {
  /**
   * Runs `begin` where the customer has fewer than `most` unfinished uploads. The first call for a customer waits until the
   * store has listed them, and so does a call that would be refused. Others find what is known, which is listed anew in the
   * background; so several processes may exceed `most` together for a time.
   * @throws FileServiceError `quota-exceeded`
   */
  begin<Upload extends Identified>(
    customer: string,
    most: number,
    begin: () => Promise<Upload>,
  ): Promise<Upload>
  /** An upload is published or discarded. */
  end(customer: string, upload: string): void
  /** Forgets what it knows: uploads have expired. */
  forget(): void
}

/** Lists the unfinished uploads of a customer in pages. */
interface UploadList {
  list(customer: string): AsyncIterable<readonly Identified[]>
}

interface Count {
  readonly customer: string
  ids: Set<string>
  /** Uploads that are being begun. */
  beginning: number
  /** One set for each look at the store, and each beginning, that is under way: the uploads that have ended since. */
  readonly endings: Set<Set<string>>
  /** The look at the store that is under way. */
  look: Promise<void> | undefined
  /** Whether a look has succeeded. */
  isCounted: boolean
  /** When the last look began; `-Infinity` if what it found does not hold any more. */
  countedAt: number
  /** How long the last look took, in milliseconds. */
  countingMs: number
}

/** How old a count may be, in milliseconds; where it refuses an upload, a second. Both are more where counting takes long. */
const longestAgeMs = 60_000
const shortestAgeMs = 1_000

/** A count holds at least so many times as long as it took. */
const timesCounting = 20

export function createUploadCounter(store: UploadList, now: () => number): UploadCounter {
  const counts = new Map<string, Count>()

  const known = (customer: string): Count => {
    const count = counts.get(customer) ?? newCount(customer)
    counts.set(customer, count)
    return count
  }
  const look = async (count: Count) => {
    const startedAt = now()
    count.countedAt = startedAt
    try {
      await recountIds(store, count)
      count.countingMs = now() - startedAt
      count.isCounted = true
    } catch (error) {
      // The next upload tries again.
      count.countedAt = -Infinity
      throw error
    } finally {
      count.look = undefined
    }
  }
  /** Joins a look that is under way. */
  const recount = (count: Count): Promise<void> => {
    if (count.look) return count.look
    count.look = look(count)
    // In the background a failure is no one's: what was known holds until a look succeeds.
    count.look.catch(() => {})
    return count.look
  }
  const isOlderThan = ({ countedAt }: Count, ms: number) => now() - countedAt >= ms

  /** Resolves when the count is as new as is needed to judge by it. */
  const judgeable = async (count: Count, most: number): Promise<void> => {
    const countingMs = timesCounting * count.countingMs
    if (isOlderThan(count, Math.max(longestAgeMs, countingMs))) void recount(count)
    if (!count.isCounted || isFull(count, most)) await count.look
    const patience = Math.min(longestAgeMs, Math.max(shortestAgeMs, countingMs))
    if (isFull(count, most) && (count.look || isOlderThan(count, patience))) await recount(count)
  }

  return {
    async begin(customer, most, begin) {
      if (most === Infinity) return begin()
      const count = known(customer)
      return watchEndings(count, async (ended) => {
        await judgeable(count, most)
        if (isFull(count, most)) throw uploadsExceeded(unfinished(count), most)
        count.beginning++
        try {
          const upload = await begin()
          if (!ended.has(upload.id)) count.ids.add(upload.id)
          return upload
        } finally {
          count.beginning--
        }
      })
    },
    end(customer, upload) {
      const count = counts.get(customer)
      count?.ids.delete(upload)
      for (const ended of count?.endings ?? []) ended.add(upload)
    },
    forget() {
      for (const count of counts.values()) {
        // A count in use knows of uploads that the store does not list yet.
        if (count.endings.size === 0) counts.delete(count.customer)
        else count.countedAt = -Infinity
      }
    },
  }
}

function newCount(customer: string): Count {
  return {
    customer,
    ids: new Set(),
    beginning: 0,
    endings: new Set(),
    look: undefined,
    isCounted: false,
    countedAt: -Infinity,
    countingMs: 0,
  }
}

const unfinished = ({ ids, beginning }: Count) => ids.size + beginning

const isFull = (count: Count, most: number) => unfinished(count) >= most

/** Does `work` with a set that gets the uploads that end meanwhile. */
async function watchEndings<T>(count: Count, work: (ended: Set<string>) => Promise<T>): Promise<T> {
  const ended = new Set<string>()
  count.endings.add(ended)
  try {
    return await work(ended)
  } finally {
    count.endings.delete(ended)
  }
}

/** Sets the ids to those that the store lists, with those that have begun meanwhile and without those that have ended. */
function recountIds(store: UploadList, count: Count): Promise<void> {
  return watchEndings(count, async (ended) => {
    const before = new Set(count.ids)
    const found = new Set<string>()
    for await (const uploads of store.list(count.customer)) {
      for (const { id } of uploads) found.add(id)
    }
    for (const id of count.ids) if (!before.has(id)) found.add(id)
    for (const id of ended) found.delete(id)
    // Do not put an `await` before it: an upload that ends during that would stay counted.
    count.ids = found
  })
}
