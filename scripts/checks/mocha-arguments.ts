import { statSync } from 'node:fs'
import { join } from 'node:path'

const everything = ['packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts']

/**
 * Turns the arguments of `scripts/test` into mocha's: a folder (relative to `root`) stands for the tests below it,
 * options and test files stay as they are, and where neither folder nor test file is named all tests run.
 */
export function mochaArguments(root: string, args: readonly string[]): string[] {
  const expanded = args.map((arg) => (isFolder(root, arg) ? testsBelow(arg) : arg))
  return args.some((arg) => namesTests(root, arg)) ? expanded : [...everything, ...expanded]
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
