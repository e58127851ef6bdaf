import { setTimeout as delay } from 'node:timers/promises'
import { readCursor, saveCursor, type Cursor, type Losses } from './cursor.ts'
import { eventOf, eventOfLoss, type Loss, type LossReason, type OutgoingEvent } from './event-of.ts'
import type { Lease } from './lease.ts'
import type { EventPoster, PostResult } from './post-event.ts'
import type { TrailReader } from './read-trail.ts'

/** Delivers events until it is closed. */
export interface Delivery {
  state(): DeliveryState
  /** Breaks off the request under way, and saves how far the delivery has come if this process still holds the lease. */
  close(): Promise<void>
}

export interface DeliveryState {
  /** How old the oldest change is whose event waits to be accepted, in milliseconds; 0 if none waits. */
  readonly delayMs: number
  /** Events that were accepted, and attempts that failed, since the start. */
  readonly accepted: number
  readonly failed: number
  /** Events that were given up since the start, after three days. */
  readonly expired: number
  /** Whether the receiver has answered 410, which ends the delivery until the next start. */
  readonly isGone: boolean
}

/** What the delivery reports, for the log. */
export interface DeliveryEvents {
  onFailure(reason: string): void
  onRecovery(failures: number): void
  onGone(): void
  /** Lines of the trail were gone before they were read, or events were given up. */
  onLoss(reason: LossReason, count: number | null): void
  /** The trail, the cursor or the lease cannot be used. */
  onTrouble(error: unknown): void
}

export interface DeliveryOptions {
  /** How often to look for new lines, in milliseconds. Default: 250. */
  readonly pollMs?: number
  /** The longest wait after the first failure, in milliseconds; doubled after each. Default: 1,000. */
  readonly shortestPauseMs?: number
  /** The longest wait of all, in milliseconds. Default: 5 minutes. */
  readonly longestPauseMs?: number
  /** How old a change must be for its event to be given up after a failure, in milliseconds. Default: three days. */
  readonly expiryMs?: number
}

export interface DeliveryParts {
  /** The file in which the cursor is kept. */
  readonly cursorFile: string
  readonly cursor: Cursor
  /** Delivers only the changes of this customer. Default: those of all. */
  readonly customer?: string
  /** Opens the trail at the cursor; `onLost` is called as `openTrailReader` says. */
  readonly openReader: (cursor: Cursor, onLost: (since: string) => void) => Promise<TrailReader>
  readonly poster: EventPoster
  readonly lease: Lease
}

/**
 * While events are delivered, the cursor is saved at most once in this time, in milliseconds. After a crash, the events of that time are
 * sent again.
 */
const saveEveryMs = 500

/** The same for lines that are no changes, which may be read again without harm. */
const saveOthersEveryMs = 30_000

/** How often the trail is looked at while events wait, in milliseconds. */
const watchMs = 1_000

/**
 * Delivers the changes in a trail, one after the other in its order, each at least once. An event that is not accepted is repeated,
 * with growing pauses; the next ones wait. Only the next event is in memory: the trail is the queue.
 */
export function deliverEvents(
  { cursorFile, cursor: first, customer, openReader, poster, lease }: DeliveryParts,
  events: DeliveryEvents,
  options: DeliveryOptions = {},
): Delivery {
  const { pollMs = 250, expiryMs = 3 * 86_400_000 } = options
  const pause = createBackoff(options)
  const closing = new AbortController()
  const { signal } = closing
  let cursor = first
  let reader: TrailReader | undefined
  /** The event of the last line that was read; it waits to be accepted. */
  let waiting: OutgoingEvent | undefined
  /** Whether an event was accepted, or lost, since the cursor was saved. */
  let isDirty = false
  /** Whether other lines were read since. */
  let isBehind = false
  let savedAt = -Infinity
  const counts = { accepted: 0, failed: 0, expired: 0 }
  let isGone = false

  const sleep = (ms: number) => delay(ms, undefined, { signal }).catch(() => {})

  const setLosses = (losses: Losses) => {
    cursor = { ...cursor, losses }
    isDirty = true
  }

  const onLost = (since: string) => {
    const until = new Date().toISOString()
    setLosses(withLoss(cursor.losses, 'rotated-away', { count: null, since, until }))
    events.onLoss('rotated-away', null)
  }

  const release = async () => {
    await reader?.close()
    reader = undefined
    waiting = undefined
  }

  /** Whether this process may deliver. If not, the cursor is that of the next holder, and nothing of this one is saved any more. */
  const holdsLease = async () => {
    if (await lease.hold()) return true
    isDirty = false
    isBehind = false
    await release()
    return false
  }

  const save = async () => {
    savedAt = performance.now()
    if (!(await holdsLease())) return
    await saveCursor(cursorFile, cursor)
    isDirty = false
    isBehind = false
  }

  const saveIfDue = async () => {
    const sinceMs = performance.now() - savedAt
    if (isDirty ? sinceMs > saveEveryMs : isBehind && sinceMs > saveOthersEveryMs) await save()
  }

  /** All that was read is done with: the cursor may move there. */
  const confirm = async () => {
    if (reader) cursor = { ...cursor, position: reader.position() }
    await saveIfDue()
  }

  /** As `confirm`, when there is nothing more to read now. A restart must know that, and which files there are. */
  const confirmEnd = async () => {
    const known = inodesIn(cursor)
    const wasRead = cursor.position.files.at(-1)?.isRead
    if (reader) cursor = { ...cursor, position: reader.position() }
    isDirty ||= inodesIn(cursor) !== known
    isBehind ||= wasRead !== true
    await saveIfDue()
  }

  /** The next event of a line; `undefined` if there is none now. */
  const readEvent = async (): Promise<OutgoingEvent | undefined> => {
    while (reader && !signal.aborted) {
      const line = await reader.next()
      if (line === undefined) return undefined
      const event = eventOf(line, cursor.source, customer)
      if (event) return event
      isBehind = true
      await confirm()
    }
    return undefined
  }

  /** Gives up the events that are too old, without an attempt for each: the receiver has just failed. */
  const expireOld = async () => {
    const before = counts.expired
    for (;;) {
      const timeMs = (waiting ??= await readEvent())?.timeMs
      if (timeMs === undefined || Date.now() - timeMs <= expiryMs) break
      waiting = undefined
      counts.expired++
      const time = new Date(timeMs).toISOString()
      setLosses(withLoss(cursor.losses, 'expired', { count: 1, since: time, until: time }))
      await confirm()
    }
    if (counts.expired > before) events.onLoss('expired', counts.expired - before)
  }

  const nextLoss = () => {
    for (const reason of ['rotated-away', 'expired'] as const) {
      const loss = cursor.losses[reason]
      if (loss) return { reason, event: eventOfLoss(reason, loss, cursor.source) }
    }
    return undefined
  }

  /** Sends the next event once; resolves with `undefined` if none waits. */
  const attempt = async (): Promise<PostResult | undefined> => {
    const loss = nextLoss()
    const event = loss?.event ?? (waiting ??= await readEvent())
    if (event === undefined) return undefined
    const result = await poster.post(event, signal)
    if (result.outcome !== 'accepted') return result
    counts.accepted++
    if (loss) {
      const { [loss.reason]: _, ...others } = cursor.losses
      setLosses(others)
      return result
    }
    waiting = undefined
    isDirty = true
    await confirm()
    return result
  }

  const sleepWatching = async (ms: number) => {
    const end = performance.now() + ms
    while (!signal.aborted && performance.now() < end) {
      await sleep(Math.max(0, Math.min(watchMs, end - performance.now())))
      await reader?.watch()
      if (!(await holdsLease())) return
    }
  }

  const onFailure = async (result: Extract<PostResult, { outcome: 'failed' }>) => {
    counts.failed++
    events.onFailure(result.reason)
    await expireOld()
    if (isDirty) await save()
    await sleepWatching(Math.max(pause.next(), Math.min(result.retryAfterMs ?? 0, 3_600_000)))
  }

  /** Opens the trail once this process may deliver, at the cursor as the last holder of the lease has left it. */
  const open = async () => {
    cursor = (await readCursor(cursorFile)) ?? cursor
    reader = await openReader(cursor, onLost)
  }

  const step = async () => {
    if (!(await holdsLease())) return sleep(watchMs)
    if (reader === undefined) await open()
    const result = await attempt()
    if (signal.aborted) return
    if (result?.outcome === 'gone') {
      isGone = true
      // No file stays open, and nothing counts as late.
      await release()
      return events.onGone()
    }
    if (result?.outcome === 'failed') return onFailure(result)
    if (result?.outcome === 'accepted') {
      const failures = pause.reset()
      if (failures > 0) events.onRecovery(failures)
      return
    }
    await confirmEnd()
    await sleep(pollMs)
  }

  const run = async () => {
    while (!signal.aborted && !isGone) {
      await step().catch(async (error: unknown) => {
        events.onTrouble(error)
        await release()
        await sleepWatching(pause.next())
      })
    }
  }

  const running = run()
  return {
    state: () => ({
      ...counts,
      delayMs: waiting?.timeMs === undefined ? 0 : Math.max(0, Date.now() - waiting.timeMs),
      isGone,
    }),
    async close() {
      closing.abort()
      await running
      if (isDirty || isBehind) await save().catch((error: unknown) => events.onTrouble(error))
      await release()
      poster.close()
      await lease.close()
    },
  }
}

function inodesIn({ position }: Cursor): string {
  return position.files.map(({ inode }) => inode).join()
}

/** `losses` with one more of `reason`. */
function withLoss(losses: Losses, reason: LossReason, { count, since, until }: Loss): Losses {
  const earlier = losses[reason]
  if (earlier === undefined) return { ...losses, [reason]: { count, since, until } }
  const sum = earlier.count === null || count === null ? null : earlier.count + count
  return { ...losses, [reason]: { count: sum, since: earlier.since, until } }
}

/**
 * Pauses after failures: of random length, so that many servers do not come back at the same moment, and twice as long at most after
 * each. `reset` returns how many there were.
 */
function createBackoff({ shortestPauseMs = 1_000, longestPauseMs = 300_000 }: DeliveryOptions) {
  let failures = 0
  return {
    next() {
      const most = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failures, 30))
      failures++
      return most / 2 + (Math.random() * most) / 2
    },
    reset() {
      const count = failures
      failures = 0
      return count
    },
  }
}
