import type { CustomerFiles, ListOptions } from '@holdfast/core'

/** Reads one list after the other. */
export interface ListReader {
  read(options: ListOptions): AsyncIterable<readonly string[]>
  /** Stops the list that is read, also while a page is awaited, and those to come. */
  readonly stop: () => Promise<void>
}

export function createListReader(files: CustomerFiles): ListReader {
  let isStopped = false
  let pages: AsyncIterator<readonly string[]> | undefined
  return {
    read(options) {
      // The iterator of the store itself: a generator around it would not close it before the next page has come.
      const iterator = files.list(options)[Symbol.asyncIterator]()
      pages = iterator
      return isStopped ? nothing : { [Symbol.asyncIterator]: () => iterator }
    },
    async stop() {
      isStopped = true
      await pages?.return?.()
    },
  }
}

const nothing: AsyncIterable<never> = { async *[Symbol.asyncIterator]() {} }
