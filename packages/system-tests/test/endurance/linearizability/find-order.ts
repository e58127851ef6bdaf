/** One operation of a history, as its client saw it. */
export interface Operation<State> {
  /** For reports. */
  readonly what: string
  /** When it began and ended, by one clock; `Infinity` for one that was not answered: it may happen later, or never. */
  readonly begin: number
  readonly end: number
  /** Whether the operation can have found `state`, by its answer. */
  readonly explains: (state: State) => boolean
  /** What the operation makes of `state`. */
  readonly effect: (state: State) => State
  /** The operation of the same request that comes before this one. */
  readonly after?: Operation<State>
}

/**
 * An order in which the operations of `history` can have happened one after the other, each at one moment between its
 * begin and its end and each with the answer that it got; `undefined` when there is none: the history is not
 * linearizable. Operations without an answer are in the order only as far as they are needed.
 *
 * The search is that of Wing and Gong (Testing and verifying concurrent objects, 1993), with Lowe's memory of what was
 * tried (Testing for linearizability, 2017). `labelOf` gives different states different labels.
 */
export function findOrder<State>(
  history: readonly Operation<State>[],
  initial: State,
  labelOf: (state: State) => string,
): readonly Operation<State>[] | undefined {
  // The first to end is tried first, which is most often right.
  const operations = [...history].sort((a, b) => a.end - b.end || a.begin - b.begin)
  const isDone = operations.map(() => false)
  const tried = new Set<string>()
  const order: Operation<State>[] = []

  const search = (state: State): boolean => {
    const deadline = operations.find((_, index) => !isDone[index])?.end ?? Infinity
    if (deadline === Infinity) return true
    const position = `${isDone.map(Number).join('')} ${labelOf(state)}`
    if (tried.has(position)) return false
    tried.add(position)
    return operations.some((operation, index) => {
      if (isDone[index] || operation.begin > deadline || !operation.explains(state)) return false
      if (operation.after && !order.includes(operation.after)) return false
      isDone[index] = true
      order.push(operation)
      if (search(operation.effect(state))) return true
      isDone[index] = false
      order.pop()
      return false
    })
  }
  return search(initial) ? order : undefined
}
