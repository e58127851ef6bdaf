import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { FileServiceError } from './errors.ts'

/** How long a store that was full keeps an upload for which it had no room, in milliseconds, unless the upload continues. */
export const expiryWhenFullMs = 60 * 60 * 1000

/** The fields of an upload that the rules need. `published` has any value but `undefined` once publication has begun. */
interface Progress extends Pick<ResumableUpload, 'offset' | 'plan'> {
  readonly published?: unknown
}

/** @throws FileServiceError `upload-conflict` unless bytes may be added at `offset` */
export function requireOffset(upload: Omit<Progress, 'plan'>, offset: number): void {
  if (upload.published !== undefined) throw uploadPublished()
  if (upload.offset === offset) return
  throw uploadConflict(`The upload has ${upload.offset} bytes, not ${offset}`)
}

/** @throws FileServiceError `upload-conflict` unless the whole file may have `length` bytes */
export function requireLength({ offset, plan, published }: Progress, length: number): void {
  const known = published === undefined ? plan.length : offset
  if (known !== undefined && known !== length) {
    throw uploadConflict(`The length is ${known} and not ${length} bytes`)
  }
  if (offset > length) throw uploadConflict(`The upload has ${offset} bytes already`)
}

/** @throws FileServiceError `upload-conflict` if the length is known, and the upload does not have all bytes of it */
export function requireComplete({ offset, plan: { length = offset } }: Progress): void {
  if (offset === length) return
  throw uploadConflict(`The upload has ${offset} of ${length} bytes`)
}

/** The error for an upload in pieces that does not exist. */
export function uploadNotFound(): FileServiceError {
  return new FileServiceError('upload-not-found', 'There is no such upload, or it has expired')
}

/** The error of a call that a later call has ended, or whose upload a later call has taken. */
export function uploadTakenOver(): FileServiceError {
  return uploadConflict('A later request has taken over the upload')
}

/** The error for bytes that are added to a published upload. */
export function uploadPublished(): FileServiceError {
  return uploadConflict('The upload is published')
}

/** The error for an upload in pieces that is not in the state that the caller expects. */
export function uploadConflict(message: string): FileServiceError {
  return new FileServiceError('upload-conflict', message)
}

/** Runs the calls that change one upload one after the other; a later call ends an append that is under way. */
export interface UploadQueue {
  /**
   * Ends the work that runs for `upload`, waits until it has ended, and then runs `work`, whose signal aborts when a later call
   * comes. Calls with the same text `upload` are for the same upload, so the text must include the customer.
   */
  run<T>(upload: string, work: (interrupted: AbortSignal) => Promise<T>): Promise<T>
  /** Ends the work that runs for `upload`, and resolves when it has ended. */
  interrupt(upload: string): Promise<void>
  isRunning(upload: string): boolean
  /** Ends all work, and resolves when it has ended. Later calls reject with `reason`. */
  close(reason: Error): Promise<void>
}

interface QueuedWork {
  readonly stop: AbortController
  /** Resolves when the work has ended. It begins only after earlier work has ended. */
  readonly ended: Promise<unknown>
}

/** Makes the {@link UploadQueue} of a store. It uses no memory for uploads without running work. */
export function createUploadQueue(): UploadQueue {
  // The last work of each upload.
  const latest = new Map<string, QueuedWork>()
  let closed: Error | undefined

  const end = async (work: QueuedWork | undefined, reason: Error) => {
    work?.stop.abort(reason)
    await work?.ended
  }
  const interrupt = (upload: string) => end(latest.get(upload), uploadTakenOver())

  return {
    async run(upload, work) {
      if (closed) throw closed
      const stop = new AbortController()
      const running = interrupt(upload).then(() => work(stop.signal))
      const queued = { stop, ended: running.catch(() => {}) }
      latest.set(upload, queued)
      try {
        return await running
      } finally {
        if (latest.get(upload) === queued) latest.delete(upload)
      }
    },
    interrupt,
    isRunning: (upload) => latest.has(upload),
    async close(reason) {
      closed = reason
      await Promise.all(Array.from(latest.values(), (work) => end(work, reason)))
    },
  }
}

/** How many published uploads a store remembers: a customer's own, those by each link, and those by all links of a customer. */
export const mostPublished = { own: 1000, byLink: 100, byLinks: 1000 } as const

/**
 * The published uploads that this process knows the store to remember. A published upload stays published, so a list of unfinished
 * uploads need not read it again.
 */
export interface PublishedUploads {
  has(id: string): boolean
  /**
   * Adds a published upload. If there are then more than {@link mostPublished}, returns the ids of those that the store has to
   * forget: the oldest of the customer's own, or of those by links. Uploads by links never displace the customer's own.
   */
  add(customer: string, upload: PublishedUpload): string[]
}

export interface PublishedUpload {
  readonly id: string
  /** The plan's `link`; `undefined` for the customer's own. */
  readonly link: string | undefined
  /** The time of the upload's last change, in milliseconds since 1970. */
  readonly changedAt: number
}

/** The published uploads of a customer by link, oldest first; those under `undefined` are the customer's own. */
type Entries = Map<string | undefined, PublishedUpload[]>

/** {@link PublishedUploads} of at most `limit` uploads: beyond that it drops the customers whose last `add` is the oldest. */
export function createPublishedUploads(limit = 100_000): PublishedUploads {
  const customers = new Map<string, Entries>()
  const known = new Set<string>()

  const dropOldestCustomer = (): void => {
    const [customer = '', entries] = customers.entries().next().value ?? []
    for (const { id } of [...(entries?.values() ?? [])].flat()) known.delete(id)
    customers.delete(customer)
  }
  const dropOldest = (entries: Entries, link: string | undefined): string[] => {
    const ofLink = entries.get(link)
    const oldest = ofLink?.shift()
    if (ofLink?.length === 0) entries.delete(link)
    if (oldest) known.delete(oldest.id)
    return oldest ? [oldest.id] : []
  }

  return {
    has: (id) => known.has(id),
    add(customer, upload) {
      const { id, link } = upload
      if (known.has(id)) return []
      const entries: Entries = customers.get(customer) ?? new Map()
      customers.delete(customer)
      customers.set(customer, entries)
      const ofLink = entries.get(link) ?? []
      insert(ofLink, upload)
      entries.set(link, ofLink)
      known.add(id)
      while (known.size > limit && customers.size > 1) dropOldestCustomer()
      if (link === undefined)
        return ofLink.length > mostPublished.own ? dropOldest(entries, link) : []
      if (ofLink.length > mostPublished.byLink) return dropOldest(entries, link)
      return countByLinks(entries) > mostPublished.byLinks
        ? dropOldest(entries, oldestLink(entries))
        : []
    },
  }
}

/** Inserts `entry` in order of time, which is usually at the end. */
function insert(entries: PublishedUpload[], entry: PublishedUpload): void {
  const at = entries.findLastIndex(({ changedAt }) => changedAt <= entry.changedAt) + 1
  entries.splice(at, 0, entry)
}

function countByLinks(entries: Entries): number {
  let count = 0
  for (const [link, ofLink] of entries) if (link !== undefined) count += ofLink.length
  return count
}

function oldestLink(entries: Entries): string | undefined {
  const firsts = [...entries.values()].flatMap(([first]) =>
    first?.link === undefined ? [] : first,
  )
  return firsts.reduce((one, other) => (other.changedAt < one.changedAt ? other : one)).link
}
