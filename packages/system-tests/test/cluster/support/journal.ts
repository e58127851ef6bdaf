import type { Answer } from './client.ts'

/** What clients saw: how each request ended, and when. */
export interface Journal {
  /** Does `work`, which resolves to how it ended, and writes that down; a rejection is a connection that broke. */
  record(kind: string, work: () => Promise<string>): Promise<string>
  /** How many requests have ended. */
  count(): number
  /** One line for each kind, then the longest answer and the longest time in which no request was answered well. */
  summary(): string
}

interface Entry {
  readonly kind: string
  readonly outcome: string
  readonly began: number
  readonly ended: number
}

/** How the outcome of a request is called that brought what it was to bring. */
export const fine = 'fine'

/** `fine` where the service did what was asked for, or with what it said instead. */
export function outcomeOf({ status, text }: Answer): string {
  if (status === 200) return fine
  const { message } = JSON.parse(text) as { message: string }
  return `${status} ${message}`
}

export function createJournal(): Journal {
  const entries: Entry[] = []
  return {
    async record(kind, work) {
      const began = performance.now()
      const outcome = await work().catch((error: unknown) => `broken connection (${codeOf(error)})`)
      entries.push({ kind, outcome, began, ended: performance.now() })
      return outcome
    },
    count: () => entries.length,
    summary: () =>
      [
        ...Object.entries(Object.groupBy(entries, ({ kind }) => kind)).map(describe),
        ...times(entries),
      ]
        .map((line) => `      ${line}`)
        .join('\n'),
  }
}

function describe([kind, entries = []]: [string, Entry[] | undefined]): string {
  const outcomes = Object.entries(Object.groupBy(entries, ({ outcome }) => outcome))
  const counts = outcomes.map(([outcome, each = []]) => `${each.length} ${outcome}`)
  return `${kind}: ${counts.join(', ')}; longest ${seconds(longest(entries).took)}`
}

function times(entries: readonly Entry[]): string[] {
  const { kind, took } = longest(entries)
  const ends = entries.filter(({ outcome }) => outcome === fine).map(({ ended }) => ended)
  const gaps = ends.slice(1).map((end, index) => end - (ends[index] ?? end))
  return [
    `longest answer: ${seconds(took)} (${kind})`,
    `longest time without a good answer for anybody: ${seconds(Math.max(0, ...gaps))}`,
  ]
}

function longest(entries: readonly Entry[]): { kind: string; took: number } {
  return entries
    .map(({ kind, began, ended }) => ({ kind, took: ended - began }))
    .reduce((most, each) => (each.took > most.took ? each : most), { kind: '', took: 0 })
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
