import type { Argv } from 'yargs'
import { optionTakesValue, yargsWords, type Suggestion } from './yargs-words.ts'

/** `'files'`: what comes next is a file of this machine. */
export type Suggestions = readonly Suggestion[] | 'files'

/** Names on the server that begin with a text. */
export type FindNames = (prefix: string) => Promise<readonly string[]>

/** The commands whose words are names on the server. */
const takeNames = ['get', 'cat', 'ls', 'rm', 'stat', 'link']

/**
 * What may come at the end of `words`, the words of a command line after the program's name. The last one may be empty. What there is
 * to know of commands and options is asked of `cli`.
 */
export async function suggestWords(
  cli: Argv,
  words: readonly string[],
  findNames: FindNames,
): Promise<Suggestions> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const isBehindDashes = before.includes('--')
  const known = isBehindDashes ? { suggestions: [], switches: [] } : await yargsWords(cli, words)
  const fitting = known.suggestions.filter(({ word }) => word.startsWith(current))
  if (current.startsWith('-') && !isBehindDashes) return fitting
  // Yargs offers options where it knows nothing else.
  const others = fitting.filter(({ word }) => !word.startsWith('-'))
  if (others.length > 0) return others
  const command = before.find((word) => !word.startsWith('-'))
  if (command === undefined) return []
  const isValue = !isBehindDashes && optionTakesValue(before.at(-1), known.switches)
  if (isValue || !takeNames.includes(command)) return 'files'
  const names = await findNames(current)
  return names
    .filter((name) => isShowable(name) && (isBehindDashes || !name.startsWith('-')))
    .map((word) => ({ word, about: '' }))
}

/** Whether a terminal shows the name as it is, so that a user sees what was put into the line. */
function isShowable(name: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}]/u.test(name)
}
