import type { Argv } from 'yargs'
import type { Shell } from './completion-script.ts'
import { quoteForBash } from './quote-for-bash.ts'
import { splitLine } from './split-line.ts'
import { suggestWords, type FindNames, type Suggestions } from './suggest-words.ts'

/**
 * What the script of {@link completionScript} gets, one a line: the words after the program's name for zsh and fish, and for bash the line
 * before the cursor and the characters at which bash cuts words.
 */
export async function complete(
  cli: Argv,
  shell: Shell,
  words: readonly string[],
  findNames: FindNames,
): Promise<readonly string[]> {
  if (shell === 'bash') return completeLine(cli, words, findNames)
  return linesOf(await suggestWords(cli, words, findNames), ({ word, about }) =>
    about === '' ? word : `${word}\t${about}`,
  )
}

async function completeLine(
  cli: Argv,
  [line = '', breaks = '']: readonly string[],
  findNames: FindNames,
): Promise<readonly string[]> {
  const { words, isQuoted } = splitLine(line)
  const raw = words.at(-1)?.raw ?? ''
  const typed = words.slice(1).map(({ value }) => value)
  // Bash replaces only what comes after the last character that cuts a word.
  const kept = Array.from(raw).findLastIndex((character, index, all) => {
    return ':=@'.includes(character) && breaks.includes(character) && all[index - 1] !== '\\'
  })
  const start = Array.from(raw)
    .slice(0, kept + 1)
    .join('')
  // After an open quote readline would take backslashes as characters.
  const find: FindNames = isQuoted ? () => Promise.resolve([]) : findNames
  return linesOf(await suggestWords(cli, typed, find), ({ word }) => {
    const quoted = quoteForBash(word)
    return quoted.startsWith(start) ? quoted.slice(start.length) : quoted
  })
}

function linesOf(
  suggestions: Suggestions,
  lineOf: (suggestion: { readonly word: string; readonly about: string }) => string,
): readonly string[] {
  return suggestions === 'files' ? ['/'] : suggestions.map(lineOf)
}
