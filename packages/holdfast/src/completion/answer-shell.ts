import type { Argv } from 'yargs'
import { print } from '../terminal/print.ts'
import { complete } from './complete.ts'
import { shells } from './completion-script.ts'

/** Prints the words that may come next, for the script of {@link completionScript}; resolves with the exit code. */
export async function answerShell(
  describe: () => Argv,
  [name, ...words]: readonly string[],
): Promise<number> {
  const shell = shells.find((each) => each === name)
  if (shell === undefined) return 2
  // Yargs describes its words for some shells only, by this variable.
  process.env['SHELL'] = 'fish'
  const { findNames } = await import('./find-names.ts')
  const lines = await complete(describe(), shell, words, findNames)
  await print(lines.map((line) => `${line}\n`).join(''))
  return 0
}
