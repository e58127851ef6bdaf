const endSignals = ['SIGTERM', 'SIGINT'] as const

export interface Signals {
  /** Resolves with the first signal to end. */
  readonly end: Promise<string>
  /** Aborts at the second one. */
  readonly hurry: AbortSignal
  /** Calls `reload` at every SIGHUP from now on, and once now if there was one before. */
  onReload(reload: () => void): void
}

/**
 * Handles the signals that the server knows, from now on. Call it before there is anything to end: a signal without a
 * handler kills the process.
 */
export function catchSignals(): Signals {
  const first = Promise.withResolvers<string>()
  const second = new AbortController()
  let isEnding = false
  const end = (signal: string) => {
    if (isEnding) second.abort()
    isEnding = true
    first.resolve(signal)
  }
  let isReloadDue = false
  let reload = () => {
    isReloadDue = true
  }
  for (const signal of endSignals) process.on(signal, end)
  process.on('SIGHUP', () => reload())
  return {
    end: first.promise,
    hurry: second.signal,
    onReload(callback) {
      reload = callback
      if (isReloadDue) callback()
    },
  }
}
