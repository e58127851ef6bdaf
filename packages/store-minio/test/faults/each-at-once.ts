/** How many run at the same time. */
const lanes = 12

/**
 * Declares a test for each of `cells`, in suites of the groups that `groupOf` names, if it is given. They run several at
 * a time, whatever their groups, since most of their time goes into waiting for timeouts; each test reports its own.
 */
export function eachAtOnce<T>(
  cells: readonly T[],
  titleOf: (cell: T) => string,
  run: (cell: T) => Promise<void>,
  groupOf?: (cell: T) => string,
): void {
  const outcomes = cells.map(() => Promise.withResolvers<unknown>())
  // A test may come later than its failure.
  for (const { promise } of outcomes) promise.catch(() => {})
  before(() => {
    const waiting = cells.entries()
    const lane = async () => {
      // An iterator that is shared: each lane takes the cell that none has taken yet.
      for (const [index, cell] of waiting) {
        const outcome = run(cell)
        outcomes[index]?.resolve(outcome)
        await outcome.catch(() => {})
      }
    }
    for (let count = 0; count < lanes; count++) void lane()
  })
  const declare = (cell: T, index: number) => it(titleOf(cell), () => outcomes[index]?.promise)
  if (groupOf === undefined) return cells.forEach(declare)
  for (const [group, members] of Map.groupBy(cells.entries(), ([, cell]) => groupOf(cell))) {
    describe(group, () => members.forEach(([index, cell]) => declare(cell, index)))
  }
}
