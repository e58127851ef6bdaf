/** The names that one list holds. */
export interface HeldNames {
  /** Adds bytes; whether so many may be held. */
  grow(bytes: number): boolean
  /** Whoever has taken names from `rest` now; when others need the memory and he does not come back, `drop` is called. */
  wait(drop: () => void): void
  /** Holds nothing any more. */
  release(): void
}

/** What the lists of a store hold in memory together. */
export interface NameBudget {
  open(): HeldNames
  /** Bytes held now. */
  readonly held: () => number
}

/** Bytes: more than a million names of the usual length. */
const defaultMost = 32 * 1024 * 1024

/** Bytes that a list may hold in any case. */
const defaultLeast = 128 * 1024

/** Milliseconds after which a reader who has not taken the names that were given to him is taken for a slow one. */
const patience = 1000

/**
 * Lets lists hold `most` bytes of names together, beside `least` for each. When a list needs more, those drop
 * theirs whose readers have waited longest; a list that has dropped its names finds them again when its reader goes on.
 */
export function createNameBudget(
  { most = defaultMost, least = defaultLeast } = {},
  now: () => number = () => performance.now(),
): NameBudget {
  /** In the order in which their readers took names last. */
  const waiting = new Map<HeldNames, { readonly since: number; readonly drop: () => void }>()
  let total = 0

  const dropUntilFits = () => {
    for (const [held, { since, drop }] of waiting) {
      if (total <= most || now() - since < patience) return
      drop()
      held.release()
    }
  }

  const open = (): HeldNames => {
    let bytes = 0
    const held: HeldNames = {
      grow(more) {
        bytes += more
        total += more
        if (total > most) dropUntilFits()
        return total <= most || bytes <= least
      },
      wait(drop) {
        waiting.delete(held)
        waiting.set(held, { since: now(), drop })
      },
      release() {
        waiting.delete(held)
        total -= bytes
        bytes = 0
      },
    }
    return held
  }

  return { open, held: () => total }
}
