/** Calls `run` after `ms` milliseconds; returns a function that prevents that. */
export type AfterTime = (ms: number, run: () => void) => () => void

export const afterTime: AfterTime = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
