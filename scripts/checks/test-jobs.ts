import type { Choice } from './choose-tests.ts'
import { groupTests } from './group-tests.ts'
import { kindOfTest } from './job-kind.ts'
import type { Report } from './report.ts'
import type { Job } from './run-jobs.ts'
import { slowTests } from './slow-tests.ts'
import { testJob, type TestFolders } from './test-job.ts'
import { needsByFile } from './test-needs.ts'

/** The chosen test files as jobs. Those that take long begin first, so that none runs on when the others have ended. */
export function testJobs(
  root: string,
  { files, options }: Pick<Choice, 'files' | 'options'>,
  folders?: TestFolders,
): Job<Report>[] {
  const needs = needsByFile(root, files)
  const rank = ({ title }: { readonly title: string }) => {
    const [place = ''] = title.split(' ')
    return slowTests.includes(place) ? slowTests.indexOf(place) : slowTests.length
  }
  return groupTests(files)
    .toSorted((one, other) => rank(one) - rank(other))
    .map((group) => {
      const [file = ''] = group.files
      return testJob(root, group, kindOfTest(file, needs.get(file) ?? []), options, folders)
    })
}
