const kept = 20

/** What has been done lately, by user. */
export interface Activity {
  note(user: string, what: string): void
  /** The latest first. */
  of(user: string): readonly string[]
}

/** In memory, and only what this process did: hooks are called at most once. */
export function createActivity(): Activity {
  const lines = new Map<string, readonly string[]>()
  return {
    note(user, what) {
      lines.set(user, [what, ...(lines.get(user) ?? [])].slice(0, kept))
    },
    of: (user) => lines.get(user) ?? [],
  }
}
