import type { ClosableStore } from '../stores/closable-store.ts'
import {
  createStoreTimer,
  type StoreObserver,
  type StoreOperation,
  type StoreTimer,
} from './time-store.ts'
import { watchResumable, type UploadEvent } from './watch-resumable.ts'

/**
 * `store` with its durations reported. For what takes content this is the time from the end of the content. For `open` it is
 * the time until the blob can be read, for lists until the first page.
 */
export function watchStore(
  store: ClosableStore,
  observer: StoreObserver,
  onEvent: (event: UploadEvent) => void = () => {},
): ClosableStore {
  const timer = createStoreTimer(observer)
  const { timed, taking } = timer
  return {
    ...store,
    put: (key, content, options) =>
      taking('put', content, options?.signal, (watched) => store.put(key, watched, options)),
    open: (key, options) => timed('open', () => store.open(key, options)),
    stat: (key) => timed('stat', () => store.stat(key)),
    delete: (key) => timed('delete', () => store.delete(key)),
    usage: (customer) => timed('usage', () => store.usage(customer)),
    list: (customer, options) => watchList('list', store.list(customer, options), timed),
    // One operation for both: they take about as long until the first page.
    listDetails: (customer, options) =>
      watchList('list', store.listDetails(customer, options), timed),
    customers: () => watchList('customers', store.customers(), timed),
    ...(store.resumable && { resumable: watchResumable(store.resumable, timer, onEvent) }),
  }
}

/** `items`, of which the first is timed. All others go as they come: there may be a million. */
function watchList<Item>(
  operation: StoreOperation,
  items: AsyncIterable<Item>,
  timed: StoreTimer['timed'],
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
