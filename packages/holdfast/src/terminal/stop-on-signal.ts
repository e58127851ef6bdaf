const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interruption {
  /** Aborts at the first signal that ends the program. The second one kills the process, as it does by default. */
  readonly signal: AbortSignal
  /** The name of that signal, if there was one. */
  name(): NodeJS.Signals | undefined
}

/** Handles these signals from now on. */
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
