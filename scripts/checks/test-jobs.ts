import type { Choice } from './choose-tests.ts'
import type { Report } from './report.ts'
import type { Job } from './run-jobs.ts'
import { slowTests } from './slow-tests.ts'
import { testJob, type TestFolders } from './test-job.ts'

/** The chosen test files as jobs. Those that take long begin first, so that none runs on when the others have ended. */
export function testJobs(
  root: string,
  { files, options }: Choice,
  folders?: TestFolders,
): Job<Report>[] {
  const rank = (file: string) =>
    slowTests.includes(file) ? slowTests.indexOf(file) : slowTests.length
  return files
    .toSorted((one, other) => rank(one) - rank(other))
    .map((file) => testJob(root, file, options, folders))
}
