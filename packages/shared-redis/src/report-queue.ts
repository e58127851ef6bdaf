/** Sends one report after the other. */
export interface ReportQueue {
  /**
   * Sends a report. Calls that come while one is on its way share the next one, but for those that give back: each has its own.
   * Rejects if that report fails.
   */
  add(givesBack?: boolean): Promise<void>
  /** Whether a report waits for the one before. */
  isWaiting(): boolean
}

/** Makes a {@link ReportQueue} of reports that `send` sends. */
export function createReportQueue(send: (givesBack: boolean) => Promise<void>): ReportQueue {
  let sending: Promise<void> | undefined
  let next: Promise<void> | undefined
  return {
    add(givesBack = false) {
      if (next && !givesBack) return next
      const before = next ?? sending
      const run = async (): Promise<void> => {
        await before?.catch(() => {})
        if (next === work) next = undefined
        sending = work
        await send(givesBack)
      }
      const work: Promise<void> = Promise.resolve().then(run)
      next = work
      return work
    },
    isWaiting: () => next !== undefined,
  }
}
