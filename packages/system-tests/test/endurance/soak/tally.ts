/** Counts what was done and how it ended. */
export interface Tally {
  /** One `operation` has ended with `outcome`. */
  count(operation: string, outcome: string): void
  /** So many bytes of content went up or down. */
  move(bytes: number): void
  operations(): number
  bytes(): number
  /** One line for each operation: how often, and how often with each outcome. */
  lines(): readonly string[]
}

export function createTally(): Tally {
  const counts = new Map<string, Map<string, number>>()
  let operations = 0
  let bytes = 0
  return {
    count(operation, outcome) {
      operations++
      const outcomes = counts.get(operation) ?? new Map<string, number>()
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      counts.set(operation, outcomes)
    },
    move: (count) => void (bytes += count),
    operations: () => operations,
    bytes: () => bytes,
    lines: () =>
      [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([operation, outcomes]) => {
          const parts = [...outcomes].sort(([, a], [, b]) => b - a)
          const total = parts.reduce((sum, [, count]) => sum + count, 0)
          const described = parts.map(([outcome, count]) => `${count} ${outcome}`).join(', ')
          return `${operation.padEnd(20)} ${`${total}`.padStart(7)}: ${described}`
        }),
  }
}
