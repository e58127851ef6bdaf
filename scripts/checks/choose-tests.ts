import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasMark } from './has-mark.ts'

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
 * Understands the arguments of `scripts/test`: a folder (relative to `root`) stands for the test files below it, a test
 * file for itself, whether it is there or not. Where neither is named, all test files are chosen, but for those whose
 * name says that they take long (`NAME.long.test.ts`); in CI, and with `--all`, also those. The rest are options.
 */
export function chooseTests(
  root: string,
  args: readonly string[],
  isCi = Boolean(process.env['CI']),
): Choice {
  const named = args.filter((arg) => namesTests(root, arg))
  const patterns = named.map((arg) => (isFolder(root, arg) ? testsBelow(arg) : arg))
  const found = (named.length > 0 ? patterns : everything).flatMap((pattern) => find(root, pattern))
  const isShort = named.length === 0 && !args.includes('--all') && !isCi
  const leftOut = isShort ? found.filter((file) => hasMark(file, 'long')) : []
  const files = [...new Set(found)].filter((file) => !leftOut.includes(file))
  const options = args.filter((arg) => !named.includes(arg) && arg !== '--all')
  return { files, options, named, leftOut }
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

function namesTests(root: string, arg: string): boolean {
  return isFolder(root, arg) || (!arg.startsWith('-') && arg.endsWith('.test.ts'))
}

function isFolder(root: string, arg: string): boolean {
  if (arg.startsWith('-')) return false
  return statSync(join(root, arg), { throwIfNoEntry: false })?.isDirectory() ?? false
}
