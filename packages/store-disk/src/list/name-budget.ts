/** The names that one list holds. */
export interface HeldNames {
  /** Adds bytes; whether so many may be held. */
  grow(bytes: number): boolean
  /**
   * Records that the reader has just taken names. If other lists need the memory and it takes no more, `drop` is
   * called.
   */
  wait(drop: () => void): void
  /** Holds nothing any more. */
  release(): void
}

/** The memory that all lists of a store may use for names. */
export interface NameBudget {
  open(): HeldNames
  /** Bytes held now. */
  readonly held: () => number
}

/** Bytes: more than a million names of the usual length. */
const defaultMost = 32 * 1024 * 1024

/** Bytes that a list may hold in any case. */
const defaultLeast = 128 * 1024

/** A reader is slow if it has taken no names for so many milliseconds. */
const slowAfter = 1000

/**
 * Limits the names of all lists together to `most` bytes, beside `least` for each. When a list needs more, the lists
 * whose readers have waited longest drop theirs. A list that has dropped its names reads them again when its reader
 * goes on.
 */
export function createNameBudget(
  { most = defaultMost, least = defaultLeast } = {},
  now: () => number = () => performance.now(),
): NameBudget {
  /** The list whose reader has waited longest is the first. */
  const waiting = new Map<HeldNames, { readonly since: number; readonly drop: () => void }>()
  let total = 0

  const dropUntilFits = () => {
    for (const [held, { since, drop }] of waiting) {
      if (total <= most || now() - since < slowAfter) return
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
