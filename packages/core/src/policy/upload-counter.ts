import { FileServiceError } from '../model/errors.ts'
import type { ResumableUploads } from '../ports/resumable-uploads.ts'

interface Identified {
  readonly id: string
}

/** Knows the unfinished uploads of every customer who has begun one. */
export interface UploadCounter {
  /**
   * Runs `begin` where the customer has fewer than `most` unfinished uploads. It asks the store for them the first time, and
   * again where it matters what other processes have done; so several of these may exceed `most` together for a time.
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

interface Count {
  ids: Set<string>
  /** Uploads that are being begun. */
  beginning: number
  countedAt: number
  /** How long the count took, in milliseconds. */
  countingMs: number
  counted: Promise<void>
}

/** How old a count may be, in milliseconds; where it refuses an upload, a second, or twenty times as long as it took. */
const longestAgeMs = 60_000
const shortestAgeMs = 1_000

export function createUploadCounter(
  { list }: Pick<ResumableUploads, 'list'>,
  now: () => number,
): UploadCounter {
  const counts = new Map<string, Count>()

  const look = async (customer: string, count: Count) => {
    const before = new Set(count.ids)
    const found = new Set<string>()
    for await (const uploads of list(customer)) for (const { id } of uploads) found.add(id)
    for (const id of before) if (!count.ids.has(id)) found.delete(id)
    for (const id of count.ids) if (!before.has(id)) found.add(id)
    count.ids = found
    count.countingMs = now() - count.countedAt
  }
  const recount = (customer: string, count: Count): Promise<void> => {
    count.countedAt = now()
    count.counted = look(customer, count)
    // A count that failed is not kept, so that the next upload tries again.
    count.counted.catch(() => counts.delete(customer))
    return count.counted
  }
  const known = (customer: string): Count => {
    const found = counts.get(customer)
    if (found) return found
    const nothing = {
      ids: new Set<string>(),
      beginning: 0,
      countingMs: 0,
      counted: Promise.resolve(),
    }
    const count: Count = { ...nothing, countedAt: -Infinity }
    counts.set(customer, count)
    return count
  }
  const isFull = ({ ids, beginning }: Count, most: number) => ids.size + beginning >= most
  const isOlderThan = ({ countedAt }: Count, ms: number) => now() - countedAt >= ms

  /** The count of the customer, as new as is needed to judge by it. */
  const judged = async (customer: string, most: number): Promise<Count> => {
    const count = known(customer)
    if (isOlderThan(count, longestAgeMs)) void recount(customer, count)
    await count.counted
    const patience = Math.min(longestAgeMs, Math.max(shortestAgeMs, 20 * count.countingMs))
    if (isFull(count, most) && isOlderThan(count, patience)) await recount(customer, count)
    return count
  }

  return {
    async begin(customer, most, begin) {
      if (most === Infinity) return begin()
      const count = await judged(customer, most)
      if (isFull(count, most)) {
        throw new FileServiceError('quota-exceeded', `There are ${most} unfinished uploads already`)
      }
      count.beginning++
      try {
        const upload = await begin()
        count.ids.add(upload.id)
        return upload
      } finally {
        count.beginning--
      }
    },
    end: (customer, upload) => void counts.get(customer)?.ids.delete(upload),
    forget: () => counts.clear(),
  }
}
