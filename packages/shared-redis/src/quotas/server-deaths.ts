import type { Other } from './sync-account.ts'

/** Knows for how long servers have been dead that hold a part of an account. */
export interface ServerDeaths {
  note(others: readonly Other[]): void
  /** The servers for which nothing need be held any longer, and the numbers of their deaths. */
  over(): readonly (readonly [server: string, death: number])[]
}

/** Makes a {@link ServerDeaths}. Each death is over `holdMs` milliseconds after it was noted first. */
export function createServerDeaths(now: () => number, holdMs: number): ServerDeaths {
  let deaths = new Map<string, { readonly death: number; readonly since: number }>()
  return {
    note(others) {
      const before = deaths
      deaths = new Map()
      for (const { server, death } of others) {
        const known = before.get(server)
        // A server may have come back and died anew.
        if (death > 0) deaths.set(server, known?.death === death ? known : { death, since: now() })
      }
    },
    over: () =>
      [...deaths]
        .filter(([, { since }]) => now() - since >= holdMs)
        .map(([server, { death }]) => [server, death] as const),
  }
}
