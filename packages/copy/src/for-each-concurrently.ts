/**
 * Calls `work` for every item, for at most `concurrency` at a time, in their order. Stops asking for items when the
 * signal aborts; resolves when no work is under way any more. `work` does not reject; a failure of `items` is thrown.
 */
export async function forEachConcurrently<T>(
  items: AsyncIterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const worker = async () => {
    while (!signal.aborted) {
      const step = await iterator.next()
      if (step.done === true) return
      await work(step.value)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  await iterator.return?.()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
