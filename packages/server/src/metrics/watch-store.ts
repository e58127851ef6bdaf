import type { BlobStore } from '@holdfast/core'
import type { ClosableStore } from '../stores/closable-store.ts'

/** What a store does. */
export const storeOperations = [
  'put',
  'open',
  'stat',
  'delete',
  'list',
  'usage',
  'customers',
] as const

export type StoreOperation = (typeof storeOperations)[number]

/** Called for the operations of a store. */
export interface StoreObserver {
  /** An operation has ended, with success or not, after so many milliseconds. */
  onDone(operation: StoreOperation, durationMs: number): void
  onFailed(operation: StoreOperation, error: unknown): void
  /** An upload has started (1) or ended (-1). */
  onUploads(change: 1 | -1): void
}

/**
 * `store` with its durations reported. For `put` this is the time from the end of the content: before that, the client
 * determines the pace. For `open` it is the time until the blob can be read, for lists until the first page. An error of
 * the content, or an abort, is no failure of the store.
 */
export function watchStore(store: ClosableStore, observer: StoreObserver): ClosableStore {
  const timed = async <T>(operation: StoreOperation, call: () => Promise<T>): Promise<T> => {
    const begin = performance.now()
    try {
      return await call()
    } catch (error) {
      observer.onFailed(operation, error)
      throw error
    } finally {
      observer.onDone(operation, performance.now() - begin)
    }
  }
  const put: BlobStore['put'] = async (key, content, options) => {
    const watched = watchContent(content)
    observer.onUploads(1)
    try {
      return await store.put(key, watched.content, options)
    } catch (error) {
      const isOurs = watched.hasFailedWith(error) || options?.signal?.aborted
      if (!isOurs) observer.onFailed('put', error)
      throw error
    } finally {
      observer.onUploads(-1)
      const endedAt = watched.endedAt()
      if (endedAt !== undefined) observer.onDone('put', performance.now() - endedAt)
    }
  }
  return {
    ...store,
    put,
    open: (key, options) => timed('open', () => store.open(key, options)),
    stat: (key) => timed('stat', () => store.stat(key)),
    delete: (key) => timed('delete', () => store.delete(key)),
    usage: (customer) => timed('usage', () => store.usage(customer)),
    list: (customer, options) => watchList('list', store.list(customer, options), timed),
    // One operation for both: they take about as long until the first page.
    listDetails: (customer, options) =>
      watchList('list', store.listDetails(customer, options), timed),
    customers: () => watchList('customers', store.customers(), timed),
  }
}

/** `content`, with an eye on when it has ended, or what it has failed with. */
function watchContent(content: AsyncIterable<Uint8Array>) {
  let endedAt: number | undefined
  let failure: { readonly error: unknown } | undefined
  const begin = (): AsyncIterator<Uint8Array> => {
    const chunks = content[Symbol.asyncIterator]()
    return {
      async next() {
        try {
          const result = await chunks.next()
          if (result.done) endedAt = performance.now()
          return result
        } catch (error) {
          failure = { error }
          throw error
        }
      },
      async return(value?: unknown) {
        await chunks.return?.()
        return { done: true, value }
      },
    }
  }
  return {
    content: { [Symbol.asyncIterator]: begin },
    endedAt: () => endedAt,
    hasFailedWith: (error: unknown) => failure !== undefined && failure.error === error,
  }
}

type Timed = <T>(operation: StoreOperation, call: () => Promise<T>) => Promise<T>

/** `items`, of which the first is timed. All others go as they come: there may be a million. */
function watchList<Item>(
  operation: StoreOperation,
  items: AsyncIterable<Item>,
  timed: Timed,
): AsyncIterable<Item> {
  const begin = (): AsyncIterator<Item> => {
    const iterator = items[Symbol.asyncIterator]()
    let isFirst = true
    return {
      next() {
        if (!isFirst) return iterator.next()
        isFirst = false
        return timed(operation, () => iterator.next())
      },
      async return(value?: unknown) {
        await iterator.return?.()
        return { done: true, value }
      },
    }
  }
  return { [Symbol.asyncIterator]: begin }
}
