/**
 * `content`, but throwing the signal's reason as soon as the signal aborts, even while `content` is stalled. However
 * the iteration ends, the iterator of `content` is closed; that is not waited for, since a stalled one closes only
 * when it wakes.
 */
export function abortable<T>(
  content: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  return signal === undefined ? content : untilAborted(content, signal)
}

async function* untilAborted<T>(content: AsyncIterable<T>, signal: AbortSignal) {
  const iterator = content[Symbol.asyncIterator]()
  // One promise a step: racing each step against one long-lived promise would pile up a reaction per chunk on it.
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
