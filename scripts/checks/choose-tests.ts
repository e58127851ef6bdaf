import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { flakyTests } from './flaky-tests.ts'
import { hasMark } from './has-mark.ts'
import type { TestArguments } from './parse-arguments.ts'

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
}

/**
 * Finds the test files that `scripts/test` is to run: a folder (relative to `root`) stands for the test files below it, a test
 * file for itself, whether it is there or not. Where neither is named, all test files are chosen, but for those whose
 * name says that they take long (`NAME.long.test.ts`); in CI, and with `--all`, also those; and with `--flaky` those that are known
 * to fail by chance.
 */
export function chooseTests(
  root: string,
  { paths, all, flaky, options }: Pick<TestArguments, 'paths' | 'all' | 'flaky' | 'options'>,
  isCi = Boolean(process.env['CI']),
): Choice {
  if (flaky && paths.length === 0) {
    return { files: flakyTests.map(({ file }) => file), options, named: [], leftOut: [] }
  }
  const patterns = paths.map((path) => (isFolder(root, path) ? testsBelow(path) : path))
  const found = (paths.length > 0 ? patterns : everything).flatMap((pattern) => find(root, pattern))
  const isShort = paths.length === 0 && !all && !isCi
  const leftOut = isShort ? found.filter((file) => hasMark(file, 'long')) : []
  const files = [...new Set(found)].filter((file) => !leftOut.includes(file))
  return { files, options, named: paths, leftOut }
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
