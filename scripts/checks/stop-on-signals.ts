/** A signal that is aborted, with its name as the reason, when this process gets SIGINT or SIGTERM; which ends it. */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    controller.abort(signal)
    process.exit(130)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return controller.signal
}
