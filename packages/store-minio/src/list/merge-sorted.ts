/** Everything that the sorted `sources` yield, in order. Asks each for one in advance, and closes all at the end. */
export async function* mergeSorted<T>(
  sources: readonly AsyncIterable<T>[],
  compare: (a: T, b: T) => number,
): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  try {
    const heads = await Promise.all(iterators.map((iterator) => iterator.next()))
    for (;;) {
      const index = indexOfLeast(heads, compare)
      const [head, iterator] = [heads[index], iterators[index]]
      if (head === undefined || head.done === true || iterator === undefined) return
      yield head.value
      heads[index] = await iterator.next()
    }
  } finally {
    await Promise.all(iterators.map(async (iterator) => iterator.return?.()))
  }
}

/** Which head comes first; -1 when all are done. */
function indexOfLeast<T>(
  heads: readonly IteratorResult<T>[],
  compare: (a: T, b: T) => number,
): number {
  return heads.reduce((least, head, index) => {
    const best = heads[least]
    if (head.done === true) return least
    if (best === undefined || best.done === true) return index
    return compare(head.value, best.value) < 0 ? index : least
  }, -1)
}
