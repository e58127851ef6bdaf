/**
 * What `start` gives when it is iterated. Its signal aborts as soon as the reader stops, whereas a generator alone hears
 * of that only at its next `yield`.
 */
export function abortOnReturn<T>(
  start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const stopping = new AbortController()
      const iteration = start(stopping.signal)
      return {
        next: () => iteration.next(),
        return: () => {
          stopping.abort()
          return iteration.return()
        },
      }
    },
  }
}
