/** Runs `run` after `ms` milliseconds, unless what it returns is called before. */
export type StartTimer = (ms: number, run: () => void) => () => void

/**
 * How long a worker may hold a name or a lock while it publishes or deletes, in milliseconds: longer than stores wait for their
 * servers. A worker that takes longer has been suspended, and might hold it forever.
 */
export const leaseMs = 60_000

/**
 * How long a request to MinIO may outlive the worker that sent it, in milliseconds: when a worker is killed, MinIO still executes
 * the requests that are on their way.
 */
export const outlivedMs = 5_000

export const startTimer: StartTimer = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
