import type { JobKind } from './job-kind.ts'
import type { Report } from './report.ts'
import type { Job } from './run-jobs.ts'
import { runProgram } from './run-program.ts'

/** A check, which counts as one: a program of node_modules/.bin in `root`, with its arguments. */
export function checkJob(
  root: string,
  title: string,
  kind: JobKind,
  command: readonly string[],
): Job<Report> {
  return {
    title,
    kind,
    isAlone: false,
    isExternal: false,
    run: async (stop) => {
      const { problem, ...rest } = await runProgram(root, command, stop)
      const again = `node_modules/.bin/${command.join(' ')}`
      const failures = problem === undefined ? [] : [{ title, message: `ended ${problem}`, again }]
      return { passed: 1 - failures.length, failures, figures: [], contract: [], ...rest }
    },
  }
}
