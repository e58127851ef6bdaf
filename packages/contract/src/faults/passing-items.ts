/** The steps of one iteration. */
export interface ItemSteps {
  /** Called when the iteration begins; what it gives is called when that has ended, in whichever way. */
  readonly begin: () => () => void
  /** Passes a step; `stopped` aborts when the reader stops the iteration. */
  readonly pass: (moment: 'item' | 'end', stopped: AbortSignal) => Promise<void>
}

/**
 * What `source` yields, with a step before each item and one before the end. Where a step fails, the iteration of the
 * source is closed, and this one ends with the step's error.
 */
export function passingItems<Item>(
  source: (stopped: AbortSignal) => AsyncIterable<Item>,
  { begin, pass }: ItemSteps,
): AsyncIterable<Item> {
  const iterate = (): AsyncIterator<Item, undefined> => {
    const stop = new AbortController()
    const iterator = source(stop.signal)[Symbol.asyncIterator]()
    const done = begin()
    const finish = () => {
      stop.abort(new Error('The reader has stopped'))
      done()
      return { done: true, value: undefined } as const
    }
    const handOn = async (next: IteratorResult<Item, unknown>) => {
      if (stop.signal.aborted) return finish()
      await pass(next.done ? 'end' : 'item', stop.signal)
      return next.done ? finish() : next
    }

    return {
      next: async () => {
        if (stop.signal.aborted) return finish()
        try {
          return await handOn(await iterator.next())
        } catch (error) {
          await iterator.return?.()
          finish()
          throw error
        }
      },
      return: async () => {
        // First of all, since an iterator that is held closes only when it goes on.
        stop.abort(new Error('The reader has stopped'))
        await iterator.return?.()
        return finish()
      },
    }
  }
  return { [Symbol.asyncIterator]: () => iterate() }
}
