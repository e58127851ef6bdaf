import type { ResumableUpload } from '../ports/resumable-uploads.ts'
import { FileServiceError } from './errors.ts'

/** Milliseconds for which a store that was full keeps an upload that had no room in it, unless the upload goes on. */
export const expiryWhenFullMs = 60 * 60 * 1000

/** What the rules of an upload in pieces need of it; `published` is anything once it is, or is being, published. */
interface Progress extends Pick<ResumableUpload, 'offset' | 'plan'> {
  readonly published?: unknown
}

/** @throws FileServiceError `upload-conflict` unless bytes may be added at `offset` */
export function requireOffset(upload: Omit<Progress, 'plan'>, offset: number): void {
  if (upload.published !== undefined) throw uploadPublished()
  if (upload.offset === offset) return
  throw uploadConflict(`The upload stands at ${upload.offset} and not at ${offset} bytes`)
}

/** @throws FileServiceError `upload-conflict` unless the whole file may have `length` bytes */
export function requireLength({ offset, plan, published }: Progress, length: number): void {
  const known = published === undefined ? plan.length : offset
  if (known !== undefined && known !== length) {
    throw uploadConflict(`The length is ${known} and not ${length} bytes`)
  }
  if (offset > length) throw uploadConflict(`The upload has ${offset} bytes already`)
}

/** @throws FileServiceError `upload-conflict` unless the upload has all bytes of its length, where that is known */
export function requireComplete({ offset, plan: { length = offset } }: Progress): void {
  if (offset === length) return
  throw uploadConflict(`The upload has ${offset} of ${length} bytes`)
}

/** The rejection for an upload in pieces that is not there. */
export function uploadNotFound(): FileServiceError {
  return new FileServiceError('upload-not-found', 'There is no such upload, or it has expired')
}

/** The rejection of a call that a later one has ended, or has left without the upload. */
export function uploadTakenOver(): FileServiceError {
  return uploadConflict('A later request goes on with the upload')
}

/** The rejection of bytes for an upload whose file is there. */
export function uploadPublished(): FileServiceError {
  return uploadConflict('The upload is published')
}

/** The rejection for an upload in pieces that is not where the caller believes it to be. */
export function uploadConflict(message: string): FileServiceError {
  return new FileServiceError('upload-conflict', message)
}

/** Has the calls that change one upload run one after the other; a later call ends an append that is under way. */
export interface UploadTurns {
  /**
   * Ends what runs for `upload`, waits until it has ended, and does `work`, whose signal aborts when a later call comes. Calls
   * with the same text for `upload` are of the same upload: it must name the customer, too.
   */
  run<T>(upload: string, work: (interrupted: AbortSignal) => Promise<T>): Promise<T>
  /** Ends what runs for `upload`, and resolves when it has ended. */
  interrupt(upload: string): Promise<void>
  isRunning(upload: string): boolean
  /** Ends all that runs, and resolves when it has ended. Later calls reject with `reason`. */
  close(reason: Error): Promise<void>
}

interface Turn {
  readonly stop: AbortController
  /** Earlier turns of the upload have ended before it begins. */
  readonly ended: Promise<unknown>
}

/** Makes the {@link UploadTurns} of a store. It keeps no memory for uploads that nothing runs for. */
export function createUploadTurns(): UploadTurns {
  // The last turn of each upload.
  const turns = new Map<string, Turn>()
  let closed: Error | undefined

  const end = async (turn: Turn | undefined, reason: Error) => {
    turn?.stop.abort(reason)
    await turn?.ended
  }
  const interrupt = (upload: string) => end(turns.get(upload), uploadTakenOver())

  return {
    async run(upload, work) {
      if (closed) throw closed
      const stop = new AbortController()
      const running = interrupt(upload).then(() => work(stop.signal))
      const turn = { stop, ended: running.catch(() => {}) }
      turns.set(upload, turn)
      try {
        return await running
      } finally {
        if (turns.get(upload) === turn) turns.delete(upload)
      }
    },
    interrupt,
    isRunning: (upload) => turns.has(upload),
    async close(reason) {
      closed = reason
      await Promise.all(Array.from(turns.values(), (turn) => end(turn, reason)))
    },
  }
}

/** How many published uploads of a customer's own stay known, how many by each link, and how many by all links of a customer. */
export const mostPublished = { own: 1000, byLink: 100, byLinks: 1000 } as const

/**
 * The published uploads that a store still knows of, as far as this process has met them. An upload that is published stays so: a list of
 * unfinished uploads need not read it again.
 */
export interface PublishedUploads {
  has(id: string): boolean
  /**
   * Notes a published upload. Returns the ids of those that the store has to forget for it, if there are more than
   * {@link mostPublished}: the oldest of the customer's own, or of its link's. Links never displace the customer's own.
   */
  add(customer: string, upload: PublishedUpload): string[]
}

export interface PublishedUpload {
  readonly id: string
  /** Which link has let it in, as the plan has it; `undefined` for the customer's own. */
  readonly link: string | undefined
  /** The time of its last change, in milliseconds since 1970. */
  readonly changedAt: number
}

/** A customer's, by link, each oldest first; under `undefined` the own ones. */
type Entries = Map<string | undefined, PublishedUpload[]>

/** {@link PublishedUploads} of at most `limit` uploads: beyond that it no longer knows of the customers met longest ago. */
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

/** Mostly at the end. */
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
