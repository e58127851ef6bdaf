/** How many run at the same time. */
const lanes = 12

/**
 * Declares a test for each of `cells`. They run several at a time, since most of their time goes into waiting for
 * timeouts, and each test tells of its own.
 */
export function eachAtOnce<T>(
  cells: readonly T[],
  titleOf: (cell: T) => string,
  run: (cell: T) => Promise<void>,
): void {
  const outcomes: Promise<void>[] = []
  before(() => {
    for (const [index, cell] of cells.entries()) {
      const earlier = outcomes[index - lanes] ?? Promise.resolve()
      const outcome = earlier.catch(() => {}).then(() => run(cell))
      // Its test may come later than its failure.
      outcome.catch(() => {})
      outcomes.push(outcome)
    }
  })
  for (const [index, cell] of cells.entries()) it(titleOf(cell), () => outcomes[index])
}
