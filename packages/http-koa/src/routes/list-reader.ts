/** Reads one list after the other. */
export interface ListReader {
  /** Reads `pages`; nothing once it was stopped. */
  read<Entry>(pages: AsyncIterable<readonly Entry[]>): AsyncIterable<readonly Entry[]>
  /** Stops the list that is read, also while a page is awaited, and those to come. */
  readonly stop: () => Promise<void>
}

export function createListReader(): ListReader {
  let isStopped = false
  let reading: AsyncIterator<unknown> | undefined
  return {
    read(pages) {
      if (isStopped) return nothing
      // The iterator of the store itself: a generator around it would not close it before the next page has come.
      const iterator = pages[Symbol.asyncIterator]()
      reading = iterator
      return { [Symbol.asyncIterator]: () => iterator }
    },
    async stop() {
      isStopped = true
      await reading?.return?.()
    },
  }
}

const nothing: AsyncIterable<never> = { async *[Symbol.asyncIterator]() {} }
