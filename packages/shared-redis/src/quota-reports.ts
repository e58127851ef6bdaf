import { sum, type Amount } from '@holdfast/core'

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
  /** Unfinished uploads, and the bytes that they have now. */
  readonly staged: readonly (readonly [upload: string, bytes: number])[]
  /** Unfinished uploads that were published or discarded. */
  readonly gone: readonly string[]
  /** How much of what this server may use these changes take. */
  readonly spent: Amount
}

/** Collects what an account has to report to the engine. */
export interface Reports {
  change(added: Tagged, removed: Tagged, spent: Amount): void
  staged(upload: string, bytes: number, spent: Amount): void
  gone(upload: string): void
  /** How much of what this server may use the changes take that are not known to be reported. */
  spent(): Amount
  /** The changes to report. Until `end` was called for it, the same: its answer may have been lost. */
  begin(): Batch
  /** Call this when the engine has answered. */
  end(batch: Batch): void
  isEmpty(): boolean
}

const nothing: Amount = { bytes: 0, files: 0 }

/** The mean interval of the reports of all servers about one account, in milliseconds. No upload waits for one, and each costs the engine. */
const intervalMs = 20

const longestDelayMs = 200

/** How long one of `servers` lets changes of an account wait for others, so that they are reported together; in milliseconds. */
export function reportDelayMs(servers: number): number {
  return Math.min(longestDelayMs, intervalMs * servers)
}

export function createReports(): Reports {
  let number = 0
  let sent: Batch | undefined
  let next = empty(++number)

  return {
    change(added, removed, spent) {
      next = {
        ...next,
        added: addTagged(next.added, added),
        removed: addTagged(next.removed, removed),
        spent: sum(next.spent, spent),
      }
    },
    staged(upload, bytes, spent) {
      next = { ...next, staged: [...next.staged, [upload, bytes]], spent: sum(next.spent, spent) }
    },
    gone(upload) {
      next = {
        ...next,
        staged: next.staged.filter(([other]) => other !== upload),
        gone: [...next.gone, upload],
      }
    },
    spent: () => sum(sent?.spent ?? nothing, next.spent),
    begin() {
      if (sent === undefined) {
        sent = next
        next = empty(++number)
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
