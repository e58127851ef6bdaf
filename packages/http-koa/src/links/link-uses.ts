/** Who gets which content by which link. */
export interface LinkUse {
  readonly token: string
  readonly address: string
  readonly etag: string
}

/** The uses of links that were noted lately. */
export interface LinkUses {
  isKnown(use: LinkUse): boolean
  note(use: LinkUse): void
  forget(use: LinkUse): void
}

export interface LinkUsesOptions {
  /** How long a use is known, in milliseconds. Default: an hour. */
  readonly windowMs?: number
  /** How many uses are known; beyond it the one that was noted first is forgotten. Default: 10,000, some 3 MiB. */
  readonly most?: number
  /** In milliseconds. Default: the time of the process. */
  readonly now?: () => number
}

export function createLinkUses({
  windowMs = 3_600_000,
  most = 10_000,
  now = () => performance.now(),
}: LinkUsesOptions = {}): LinkUses {
  /** Until when each is known, in the order of these times. */
  const ends = new Map<string, number>()
  return {
    isKnown: (use) => (ends.get(keyOf(use)) ?? 0) > now(),
    forget: (use) => void ends.delete(keyOf(use)),
    note(use) {
      const key = keyOf(use)
      ends.delete(key)
      ends.set(key, now() + windowMs)
      for (const [oldest, end] of ends) {
        if (ends.size <= most && end > now()) return
        ends.delete(oldest)
      }
    },
  }
}

function keyOf({ token, address, etag }: LinkUse): string {
  return [token, address, etag].join('\n')
}
