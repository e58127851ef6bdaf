const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interruption {
  /** Aborts at the first signal that ends the program. The second one kills the process. */
  readonly signal: AbortSignal
  /** The name of that signal, if there was one. */
  name(): NodeJS.Signals | undefined
}

/** Handles these signals from now on. */
export function stopOnSignal(): Interruption {
  const controller = new AbortController()
  let first: NodeJS.Signals | undefined
  const stop = (name: NodeJS.Signals) => {
    if (first === undefined) {
      first = name
      controller.abort(new Error(`Stopped by ${name}`))
      return
    }
    for (const each of endSignals) process.off(each, stop)
    process.kill(process.pid, name)
  }
  // Stay after the first signal, too: while write-file-atomic writes a file, it ends a process in which no other listener is left.
  for (const each of endSignals) process.on(each, stop)
  return { signal: controller.signal, name: () => first }
}
