const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interruption {
  /** Aborts at the first signal to end. The second one kills the process, as it does by default. */
  readonly signal: AbortSignal
  /** Which signal it was, if there was one. */
  name(): NodeJS.Signals | undefined
}

/** Handles the signals to end from now on. */
export function stopOnSignal(): Interruption {
  const controller = new AbortController()
  let first: NodeJS.Signals | undefined
  const stop = (name: NodeJS.Signals) => {
    first = name
    for (const each of endSignals) process.off(each, stop)
    controller.abort(new Error(`Stopped by ${name}`))
  }
  for (const each of endSignals) process.on(each, stop)
  return { signal: controller.signal, name: () => first }
}
