/** One of several equal attempts. */
export interface EqualAttempt {
  /** Waits for its turn, and runs. */
  readonly run: () => Promise<boolean>
  /** Tries once more without waiting, since an equal attempt was right. */
  readonly retry: () => Promise<boolean>
  /** Takes a place among those that wait for an equal attempt; the result leaves it. Throws where there is none. */
  readonly takePlace: () => () => void
}

/**
 * Runs one of the attempts with equal `key` at a time. When it resolves to `true`, all that wait for it retry. Otherwise the
 * next of them runs.
 */
export type SharedPlace = (key: string, attempt: EqualAttempt) => Promise<boolean>

/** A {@link SharedPlace} that keeps no memory for keys without attempts. */
export function createSharedPlace(): SharedPlace {
  // Those that wait, by the key of the attempt that runs. Each is resumed with whether that was right.
  const waiting = new Map<string, ((wasRight: boolean) => void)[]>()

  const end = (key: string, isRight: boolean) => {
    const equals = waiting.get(key) ?? []
    if (isRight) {
      waiting.delete(key)
      for (const resume of equals) resume(true)
      return
    }
    // Only the next one is resumed, so that a crowd that fails costs one step for each of it.
    const next = equals.shift()
    if (next) next(false)
    else waiting.delete(key)
  }

  return async (key, { run, retry, takePlace }) => {
    const equals = waiting.get(key)
    if (equals === undefined) {
      waiting.set(key, [])
    } else {
      const leavePlace = takePlace()
      const wasRight = await new Promise<boolean>((resolve) => equals.push(resolve))
      leavePlace()
      if (wasRight) return retry()
    }
    let isRight = false
    try {
      isRight = await run()
      return isRight
    } finally {
      end(key, isRight)
    }
  }
}
