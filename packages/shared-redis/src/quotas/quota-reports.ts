import { sum, type Amount } from '@holdfast/core'
import { nothing, positive } from './amounts.ts'

/** What was stored or removed, and the count of the account that was known then. */
export interface Tagged {
  readonly present: string
  readonly amount: Amount
}

/** Changes that are reported together, once. */
export interface Batch {
  readonly number: number
  readonly added: readonly Tagged[]
  readonly removed: readonly Tagged[]
  /** Unfinished uploads, the bytes that they have at least, and those that may have come in addition to all that are known. */
  readonly staged: readonly (readonly [upload: string, bytes: number, more: number])[]
  /** Unfinished uploads that were published or discarded. */
  readonly gone: readonly string[]
  /** How much of what this server may use these changes take. */
  readonly spent: Amount
}

/**
 * Collects what an account has to report to the engine. `spent` is never negative: what a change frees can be used after it was
 * reported, since a count may have included the change before.
 */
export interface Reports {
  change(added: Tagged, removed: Tagged, spent: Amount): void
  staged(upload: string, bytes: number, spent: Amount): void
  /** Bytes that may have become part of an unfinished upload, of which other servers may know more. */
  stagedMore(upload: string, more: number, spent: Amount): void
  gone(upload: string): void
  /** How much of what this server may use the changes take that are not known to be reported. */
  spent(): Amount
  /** The part of it that the changes since the last `begin` take. */
  spentSince(): Amount
  /** The changes to report. Until `end` was called for it, the same: its answer may have been lost. */
  begin(): Batch
  /** Call this when the engine has answered. */
  end(batch: Batch): void
  isEmpty(): boolean
}

/** The mean interval of the reports of all servers about one account, in milliseconds. No upload waits for one, and each costs the engine. */
const intervalMs = 20

const longestDelayMs = 200

/** How long one of `servers` lets changes of an account wait for others, so that they are reported together; in milliseconds. */
export function reportDelayMs(servers: number): number {
  return Math.min(longestDelayMs, intervalMs * servers)
}

/** Makes a {@link Reports}. `nextNumber` returns a number that is larger than all before. */
export function createReports(nextNumber: () => number): Reports {
  let sent: Batch | undefined
  let next = empty(nextNumber())

  return {
    change(added, removed, spent) {
      next = {
        ...next,
        added: addTagged(next.added, added),
        removed: addTagged(next.removed, removed),
        spent: sum(next.spent, positive(spent)),
      }
    },
    staged(upload, bytes, spent) {
      next = {
        ...next,
        staged: [...next.staged, [upload, bytes, 0]],
        spent: sum(next.spent, spent),
      }
    },
    stagedMore(upload, more, spent) {
      next = { ...next, staged: [...next.staged, [upload, 0, more]], spent: sum(next.spent, spent) }
    },
    gone(upload) {
      next = {
        ...next,
        staged: next.staged.filter(([other]) => other !== upload),
        gone: [...next.gone, upload],
      }
    },
    spent: () => sum(sent?.spent ?? nothing, next.spent),
    spentSince: () => next.spent,
    begin() {
      if (sent === undefined) {
        sent = next
        next = empty(nextNumber())
      }
      return sent
    },
    end(batch) {
      if (sent === batch) sent = undefined
    },
    isEmpty: () => sent === undefined && isEmptyBatch(next),
  }
}

function empty(number: number): Batch {
  return { number, added: [], removed: [], staged: [], gone: [], spent: nothing }
}

function isEmptyBatch({ added, removed, staged, gone }: Batch): boolean {
  return added.length + removed.length + staged.length + gone.length === 0
}

/** Those of one count are reported as one. */
function addTagged(all: readonly Tagged[], one: Tagged): readonly Tagged[] {
  if (one.amount.bytes === 0 && one.amount.files === 0) return all
  const same = all.find(({ present }) => present === one.present)
  if (same === undefined) return [...all, one]
  const added = { present: one.present, amount: sum(same.amount, one.amount) }
  return all.map((other) => (other === same ? added : other))
}

/** Sends one report after the other. */
export interface ReportQueue {
  /**
   * Sends a report. Calls that come while one is on its way share the next one, which gives back if one of them wants that. Rejects if
   * that report fails.
   */
  add(givesBack?: boolean): Promise<void>
  /** Whether a report waits for the one before. */
  isWaiting(): boolean
}

/** Makes a {@link ReportQueue} of reports that `send` sends. */
export function createReportQueue(send: (givesBack: boolean) => Promise<void>): ReportQueue {
  let sending: Promise<void> | undefined
  let next: { givesBack: boolean; readonly sent: Promise<void> } | undefined

  const sendNext = async (): Promise<void> => {
    await sending?.catch(() => {})
    const begun = next
    next = undefined
    sending = begun?.sent
    await send(begun?.givesBack ?? false)
  }
  return {
    add(givesBack = false) {
      next ??= { givesBack, sent: Promise.resolve().then(sendNext) }
      next.givesBack ||= givesBack
      return next.sent
    },
    isWaiting: () => next !== undefined,
  }
}
