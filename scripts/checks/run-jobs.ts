import type { JobKind } from './job-kind.ts'

/** A part of what scripts/test does. */
export interface Job<Result> {
  readonly title: string
  readonly kind: JobKind
  /** Wants the machine for itself: it runs when all others have ended. */
  readonly isAlone: boolean
  /** Depends on programs that others make: a failure is judged by a second run. */
  readonly isExternal: boolean
  /** Does it; `stop` is for whoever waits no longer. */
  run(stop: AbortSignal): Promise<Result>
}

/** A job that has ended. */
export interface Done<Result> {
  readonly job: Job<Result>
  readonly result: Result
  readonly seconds: number
}

/**
 * Does `jobs`, as many at a time as there are `lanes`, in their order, and those that want to be alone at the end.
 * Calls `onStart` and `onEnd` with each, and resolves to the results in the order of `jobs`.
 */
export async function runJobs<Result>(
  jobs: readonly Job<Result>[],
  options: {
    readonly lanes: number
    readonly stop: AbortSignal
    readonly onStart: (job: Job<Result>) => void
    readonly onEnd: (done: Done<Result>) => void
  },
): Promise<Result[]> {
  const results = new Map<Job<Result>, Result>()
  const runAll = async (queue: readonly Job<Result>[], lanes: number) => {
    const rest = queue.values()
    const lane = async () => {
      // An iterator that is shared: each lane takes what none has taken yet.
      for (const job of rest) results.set(job, await runOne(job, options))
    }
    await Promise.all(Array.from({ length: lanes }, lane))
  }
  await runAll(
    jobs.filter(({ isAlone }) => !isAlone),
    options.lanes,
  )
  await runAll(
    jobs.filter(({ isAlone }) => isAlone),
    1,
  )
  return jobs.map((job) => results.get(job)).filter((result) => result !== undefined)
}

async function runOne<Result>(
  job: Job<Result>,
  { stop, onStart, onEnd }: Parameters<typeof runJobs<Result>>[1],
): Promise<Result> {
  onStart(job)
  const startedAt = performance.now()
  const result = await job.run(stop)
  onEnd({ job, result, seconds: (performance.now() - startedAt) / 1000 })
  return result
}
