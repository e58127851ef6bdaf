const firstMs = 50
const longestMs = 1_000

/**
 * How long to wait before the next attempt, in milliseconds, after some failures: up to a second, and up to a quarter less by chance, so
 * that many servers do not connect at the same moment.
 */
export function backoffMs(failures: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20))
  return full * (1 - Math.random() / 4)
}
