import type { Failure, Report } from './report.ts'
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
 * Judges the failures of jobs that depend on programs of others: runs each file that has failed once more, alone. If it passes, its
 * failures are taken out of the report, and the file is reported as flaky. All other failures stand, since there the failure is
 * what the test is for.
 *
 * Where more than three such files have failed, none runs again, and that is a failure of its own.
 *
 * @param reports of `jobs`, in their order
 * @param run runs the files, each in a job of its own, one after the other, and resolves to their reports in this order
 */
export async function retryExternal(
  jobs: readonly Job<Report>[],
  reports: readonly Report[],
  run: (files: readonly string[]) => Promise<readonly Report[]>,
): Promise<{ readonly reports: readonly Report[]; readonly flaky: readonly FlakyFile[] }> {
  const failures = reports.flatMap((report, at) => (jobs[at]?.isExternal ? report.failures : []))
  const firsts = new Map<string, Failure>()
  for (const failure of failures) {
    const { file } = failure
    if (file !== undefined && !firsts.has(file)) firsts.set(file, failure)
  }
  const files = [...firsts.keys()]
  if (files.length === 0) return { reports, flaky: [] }
  if (files.length > mostFlakyFiles) return { reports: [...reports, tooMany(files)], flaky: [] }
  const again = await run(files)
  const passing = files.filter((_, at) => again[at]?.failures.length === 0)
  const isSettled = ({ file }: Failure) => file !== undefined && passing.includes(file)
  return {
    reports: reports.map((report, at) => {
      const settled = jobs[at]?.isExternal ? report.failures.filter(isSettled).length : 0
      if (settled === 0) return report
      const left = report.failures.filter((failure) => !isSettled(failure))
      return { ...report, passed: report.passed + settled, failures: left }
    }),
    flaky: [...firsts].filter(([file]) => passing.includes(file)).map(describe),
  }
}

function describe([file, { title, message }]: readonly [string, Failure]): FlakyFile {
  return { file, title, error: message.trim().split('\n', 1)[0] ?? '' }
}

function tooMany(files: readonly string[]): Report {
  const failure = {
    title: 'tests of programs that others make',
    message: `${files.length} files failed; up to ${mostFlakyFiles} would have run once more`,
    again: `scripts/test ${files.join(' ')}`,
  }
  return { passed: 0, failures: [failure], output: '', figures: [], contract: [] }
}
