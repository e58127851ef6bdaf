/**
 * `content`, but it throws the signal's reason as soon as the signal aborts, even while `content` is stalled. When the iteration
 * ends, for any reason, the iterator of `content` is closed. This does not wait for that: a stalled iterator closes only when it
 * continues.
 */
export function abortable<T>(
  content: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  return signal === undefined ? content : untilAborted(content, signal)
}

async function* untilAborted<T>(content: AsyncIterable<T>, signal: AbortSignal) {
  const iterator = content[Symbol.asyncIterator]()
  // Makes a promise for each step: a race with one long-lived promise would leave a reaction on that for each chunk.
  let abandonStep = (_reason: unknown) => {}
  const onAbort = () => abandonStep(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    while (true) {
      signal.throwIfAborted()
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        abandonStep = reject
        iterator.next().then(resolve, reject)
      })
      if (step.done === true) return
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    iterator.return?.().catch(() => {})
  }
}
