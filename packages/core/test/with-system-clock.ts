/**
 * Runs `body` with a clock of the system that it can set back by an hour. What `body` creates must be created in there: who has taken
 * `Date.now` before keeps the right one.
 */
export async function withSystemClock(body: (setBack: () => void) => Promise<void>): Promise<void> {
  const { now } = Date
  let behindMs = 0
  Date.now = () => now() - behindMs
  try {
    await body(() => void (behindMs = 3_600_000))
  } finally {
    Date.now = now
  }
}
