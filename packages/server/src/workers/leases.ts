/** Runs `run` after `ms` milliseconds, unless what it returns is called before. */
export type StartTimer = (ms: number, run: () => void) => () => void

/**
 * How long a worker may keep a name or a turn from others while it publishes or deletes: longer than stores wait for their
 * servers. One that does not end by then has been stopped, and could keep it for ever.
 */
export const leaseMs = 60_000

/**
 * How long the request of a worker may outlive it: when it is killed, what it has sent is on its way to MinIO, which
 * carries it out.
 */
export const outlivedMs = 5_000

export const startTimer: StartTimer = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
