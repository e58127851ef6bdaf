/**
 * Iterates what `start` returns, and aborts its signal as soon as the reader stops. A generator alone would notice that
 * only at its next `yield`.
 */
export function abortOnReturn<T>(
  start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const abort = new AbortController()
      const iteration = start(abort.signal)
      return {
        next: () => iteration.next(),
        return: () => {
          abort.abort()
          return iteration.return()
        },
      }
    },
  }
}
