import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { flakyTests } from './flaky-tests.ts'
import { hasMark } from './has-mark.ts'
import type { TestArguments } from './parse-arguments.ts'
import { affectedSince, changedSince } from './tests-since.ts'

const everything = ['packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts']

/** Which tests to run, and how. */
export interface Choice {
  /** Test files, relative to the root, each once. */
  readonly files: readonly string[]
  /** Arguments for mocha, such as `--grep`. */
  readonly options: readonly string[]
  /** Folders and files that the arguments name, relative to the root; none for everything. */
  readonly named: readonly string[]
  /** Test files that take long, and are for CI, or for whoever asks for them. */
  readonly leftOut: readonly string[]
  /** Whether these are all tests, of which none is left out. */
  readonly isWhole: boolean
}

type Arguments = Pick<TestArguments, 'paths' | 'all' | 'flaky' | 'since' | 'options'>

/**
 * Finds the test files that `scripts/test` is to run: a folder (relative to `root`) stands for the test files below it, a test
 * file for itself, whether it is there or not. Where neither is named, all test files are chosen, but for those whose
 * name says that they take long (`NAME.long.test.ts`); in CI, and with `--all`, also those. With `--flaky` and no path these are
 * the files that are known to fail by chance; with `--since`, of all these, those that the changes since a commit concern.
 *
 * @throws Error where `--since` names no commit
 */
export function chooseTests(
  root: string,
  args: Arguments,
  isCi = Boolean(process.env['CI']),
): Choice {
  const { paths, all, flaky, since, options } = args
  const patterns = paths.map((path) => (isFolder(root, path) ? testsBelow(path) : path))
  const searched = paths.length > 0 ? patterns : everything
  const found =
    flaky && paths.length === 0
      ? flakyTests.map(({ file }) => file)
      : [...new Set(searched.flatMap((pattern) => find(root, pattern)))]
  const concerned =
    since === undefined ? found : affectedSince(root, found, changedSince(root, since))
  const isShort = paths.length === 0 && !all && !flaky && !isCi
  const leftOut = isShort ? concerned.filter((file) => hasMark(file, 'long')) : []
  const files = concerned.filter((file) => !leftOut.includes(file))
  const isPart = flaky || since !== undefined || paths.length + options.length + leftOut.length > 0
  return { files, options, named: paths, leftOut, isWhole: !isPart }
}

function find(root: string, pattern: string): string[] {
  const isGlob = pattern.includes('*')
  const found = globSync(pattern, { cwd: root }).filter(isOurs).sort()
  // Whoever runs a file that is missing says so best.
  return found.length === 0 && !isGlob ? [pattern] : found
}

function isOurs(path: string): boolean {
  return !path.split('/').some((part) => part === 'node_modules' || part === 'dist')
}

function testsBelow(folder: string): string {
  return `${folder.replace(/\/+$/, '')}/**/*.test.ts`
}

function isFolder(root: string, path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false
}
