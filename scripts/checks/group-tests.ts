import { dirname } from 'node:path'
import { hasMark } from './has-mark.ts'
import { slowTests } from './slow-tests.ts'

/** Folders of which all test files share one process, those in folders below, too: most of them take less time than its start. */
const whole: readonly string[] = [
  'packages/core/test',
  'packages/credentials-file/test',
  'packages/http-koa/test',
  'packages/passwords/test',
]

/** Below these each test file has a process of its own: it starts servers, engines or power cuts, and takes long by itself. */
const apart: readonly string[] = ['packages/system-tests/test', 'packages/testing/test/minio']

/** Folders whose external files share one process, and in it the browsers. */
const sharingBrowsers: readonly string[] = ['packages/web/test/browser']

/** Files that change their process, or count what it holds. */
const isolated: readonly string[] = []

/** Test files that run in one process. */
export interface TestGroup {
  /** The file, or the folder and how many files of it there are. */
  readonly title: string
  readonly files: readonly string[]
}

/**
 * Puts the test files of a folder together, in the order of the first of each group. They share a process, since its start, with mocha and
 * the package, takes more of the processor's time than most of them do. So a test must leave nothing behind that another one notices:
 * environment, working directory, signal handlers, hooks outside of a suite.
 *
 * Files that take long or measure, most of those of external programs, and those listed here have a process of their own.
 */
export function groupTests(files: readonly string[]): TestGroup[] {
  const groups = Map.groupBy(files, (file) => folderFor(file) ?? file)
  return [...groups].map(([place, members]) => {
    const [only] = members.length === 1 ? members : []
    return { title: only ?? `${place} (${members.length} files)`, files: members }
  })
}

function folderFor(file: string): string | undefined {
  if (slowTests.includes(file)) return undefined
  if (sharingBrowsers.includes(dirname(file))) {
    return hasMark(file, 'external') ? dirname(file) : undefined
  }
  const isMarked = (['alone', 'long', 'external'] as const).some((mark) => hasMark(file, mark))
  const isApart = apart.some((folder) => file.startsWith(`${folder}/`))
  if (isMarked || isApart || isolated.includes(file)) return undefined
  return whole.find((folder) => file.startsWith(`${folder}/`)) ?? dirname(file)
}
