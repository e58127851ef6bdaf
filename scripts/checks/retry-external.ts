import type { Report } from './report.ts'
import type { Job } from './run-jobs.ts'

/** More in one run are no chance any more: something that all of them use has changed. */
const mostFlakyFiles = 3

/** A test file that has failed and then passed, alone and unchanged. */
export interface FlakyFile {
  readonly file: string
  /** The test that failed first. */
  readonly title: string
  /** The first line of its error. */
  readonly error: string
}

/**
 * Judges the failures of jobs that depend on programs of others: runs each such job once more, alone. If it passes, its second
 * report replaces the first, and the file is reported as flaky. All other failures stand, since there the failure is what the
 * test is for.
 *
 * Where more than three such jobs have failed, none runs again, and that is a failure of its own.
 *
 * @param reports of `jobs`, in their order
 */
export async function retryExternal(
  jobs: readonly Job<Report>[],
  reports: readonly Report[],
  run: (jobs: readonly Job<Report>[]) => Promise<Report[]>,
): Promise<{ readonly reports: readonly Report[]; readonly flaky: readonly FlakyFile[] }> {
  const failed = jobs.filter((job, at) => job.isExternal && hasFailed(reports[at]))
  if (failed.length === 0) return { reports, flaky: [] }
  if (failed.length > mostFlakyFiles) return { reports: [...reports, tooMany(failed)], flaky: [] }
  const again = await run(failed.map((job) => ({ ...job, isAlone: true })))
  const flaky: FlakyFile[] = []
  const judged = jobs.map((job, at) => {
    const second = again[failed.indexOf(job)]
    const [failure] = reports[at]?.failures ?? []
    if (!second || !failure || hasFailed(second)) return reports[at]
    flaky.push({ file: job.title, title: failure.title, error: firstLine(failure.message) })
    return second
  })
  return { reports: judged.filter((report) => report !== undefined), flaky }
}

function hasFailed(report: Report | undefined): boolean {
  return report !== undefined && report.failures.length > 0
}

function firstLine(message: string): string {
  return message.trim().split('\n', 1)[0] ?? ''
}

function tooMany(jobs: readonly Job<Report>[]): Report {
  const failure = {
    title: 'tests of programs that others make',
    message: `${jobs.length} files failed; up to ${mostFlakyFiles} would have run once more`,
    again: `scripts/test ${jobs.map(({ title }) => title).join(' ')}`,
  }
  return { passed: 0, failures: [failure], output: '', figures: [], contract: [] }
}
