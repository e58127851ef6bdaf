import { hasMark } from './has-mark.ts'

/**
 * Folders whose test files share one process. Each start of a process loads mocha and the package anew, which takes more of
 * the processor's time than most of these files do.
 *
 * In such a folder a test must leave nothing behind that another one notices: environment, working directory, signal handlers,
 * hooks outside of a suite. A file that cannot do so stands below.
 */
const sharing: readonly string[] = ['packages/core/test', 'packages/http-koa/test']

/** Files in those folders that keep a process of their own: they change it, or count what it holds. */
const isolated: readonly string[] = []

/** Test files that run in one process. */
export interface TestGroup {
  /** The file, or the folder and how many files of it there are. */
  readonly title: string
  readonly files: readonly string[]
}

/** Puts test files that share a process together, in the order of the first of each group; each other file is a group of its own. */
export function groupTests(files: readonly string[]): TestGroup[] {
  const groups = Map.groupBy(files, (file) => folderFor(file) ?? file)
  return [...groups].map(([place, members]) => {
    const title =
      members.length === 1 ? (members[0] ?? place) : `${place} (${members.length} files)`
    return { title, files: members }
  })
}

function folderFor(file: string): string | undefined {
  const isOnItsOwn =
    isolated.includes(file) ||
    (['alone', 'long', 'external'] as const).some((mark) => hasMark(file, mark))
  return isOnItsOwn ? undefined : sharing.find((folder) => file.startsWith(`${folder}/`))
}
