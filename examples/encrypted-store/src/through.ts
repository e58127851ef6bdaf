/**
 * `source` as `transform` makes it. Stopping it stops the source, also before the first step: a generator that has
 * not begun does nothing when it is stopped, not even what stands in its `finally`.
 */
export function through(
  source: AsyncIterable<Uint8Array>,
  transform: (source: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const from = source[Symbol.asyncIterator]()
      const to = transform({ [Symbol.asyncIterator]: () => from })
      return {
        next: () => to.next(),
        async return() {
          await to.return(undefined)
          await from.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
