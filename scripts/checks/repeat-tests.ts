import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import type { Failure, Report } from './report.ts'
import type { Job } from './run-jobs.ts'

/** How often a file has to pass before it counts as mended. */
export const repetitions = 20

/** Each of `jobs` twenty times, the rounds one after the other; none has the machine to itself. */
export function repeatJobs(jobs: readonly Job<Report>[]): Job<Report>[] {
  return Array.from({ length: repetitions }, (_, round) =>
    jobs.map((job) => {
      const title = `${job.title}, ${round + 1} of ${repetitions}`
      return { ...job, title, isAlone: false, isExternal: false }
    }),
  ).flat()
}

/** Keeps every processor of the machine busy until the function returned is called, or this process ends. */
export function startLoad(): () => void {
  const busy = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['--eval', 'while (true) {}'], { stdio: 'ignore' }),
  )
  const end = () => busy.forEach((each) => each.kill('SIGKILL'))
  process.once('exit', end)
  return () => {
    end()
    process.off('exit', end)
  }
}

/** A line for each of `files`: how many of its runs have passed, and the first error. */
export function describeRepetitions(
  files: readonly string[],
  failures: readonly (readonly Failure[])[],
): string[] {
  return files.map((file) => {
    const failed = failures.filter((ofRun) => ofRun.some((failure) => failure.file === file))
    const [first] = failed.flat().filter((failure) => failure.file === file)
    if (!first)
      return `${file}: passed ${repetitions} of ${repetitions}: take it off flaky-tests.ts`
    const [error = ''] = first.message.trim().split('\n', 1)
    return `${file}: failed ${failed.length} of ${repetitions}: ${first.title}, ${error}`
  })
}
