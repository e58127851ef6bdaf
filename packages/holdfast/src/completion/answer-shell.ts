import type { Argv, FallbackCompletionFunction } from 'yargs'
import { print } from '../terminal/print.ts'
import { findNames } from './find-names.ts'
import { shells, type Shell } from './completion-script.ts'

/** Prints the words that may come next, for the script of {@link completionScript}; resolves with the exit code. */
export async function answerShell(
  describe: () => Argv,
  [name, ...words]: readonly string[],
): Promise<number> {
  const shell = shells.find((each) => each === name)
  if (shell === undefined) return 2
  // Yargs describes its words for some shells only, by this variable.
  process.env['SHELL'] = 'fish'
  const lines = await complete(describe(), shell, words, findNames)
  await print(lines.map((line) => `${line}\n`).join(''))
  return 0
}

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

/** A word of a command line of bash. */
interface ShellWord {
  /** Without quotes and backslashes. */
  readonly value: string
  /** As it was typed. */
  readonly raw: string
}

interface SplitLine {
  /** The last one is the one that the cursor stands at; it may be empty. */
  readonly words: readonly ShellWord[]
  /** Whether the last word has a quote that is still open. */
  readonly isQuoted: boolean
}

/** A word part: quoted, a character after a backslash, or a plain one. The closing quote may be missing at the end. */
const part = /'([^']*)('|$)|"((?:\\[^]|[^"\\])*)("|\\?$)|\\([^]|$)|([^\s'"\\]+)/y

/** Splits the line before the cursor as bash does. Variables and patterns stay what they are. */
export function splitLine(line: string): SplitLine {
  const words: ShellWord[] = []
  let isQuoted = false
  let position = 0
  while (true) {
    position += /^\s*/.exec(line.slice(position))?.[0].length ?? 0
    const start = position
    let value = ''
    isQuoted = false
    for (let match = partAt(line, position); match; match = partAt(line, position)) {
      const [text, single, singleEnd, double, doubleEnd, escaped, plain] = match
      isQuoted = singleEnd === '' || (doubleEnd !== undefined && doubleEnd !== '"')
      value += single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? ''
      position += text.length
    }
    words.push({ value, raw: line.slice(start, position) })
    if (position === line.length) return { words, isQuoted }
  }
}

function partAt(line: string, position: number): RegExpExecArray | null {
  if (position === line.length) return null
  part.lastIndex = position
  return part.exec(line)
}

/** `'files'`: what comes next is a file of this machine. */
export type Suggestions = readonly Suggestion[] | 'files'

/** Names on the server that begin with a text. */
type FindNames = (prefix: string) => Promise<readonly string[]>

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

/** A word that may come next. */
interface Suggestion {
  readonly word: string
  readonly about: string
}

/** What yargs knows of the place at the end of a command line. */
interface YargsWords {
  readonly suggestions: readonly Suggestion[]
  /** Options without a value, without their dashes. */
  readonly switches: readonly string[]
}

/** Commands, options and choices that may come at the end of `words`, also such as do not begin as the last one does. */
async function yargsWords(cli: Argv, words: readonly string[]): Promise<YargsWords> {
  let found: YargsWords = { suggestions: [], switches: [] }
  // The words come to the function, for those of a command are made by an inner run of yargs that would print them.
  const take: FallbackCompletionFunction = (_current, _argv, filter, done) => {
    filter((_error, lines = []) => {
      found = { suggestions: lines.flatMap(readLine), switches: switchesOf(cli) }
      done([])
    })
  }
  await cli
    .completion('yargs-completion', false, take)
    .parseAsync(['--get-yargs-completions', ...words])
  return found
}

/** Whether `option` is one that the next word belongs to. */
function optionTakesValue(option: string | undefined, switches: readonly string[]): boolean {
  const [, name] = /^--?([^=]+)$/.exec(option ?? '') ?? []
  return name !== undefined && !switches.includes(name)
}

/** Yargs sets the description apart by a tab, if the shell is fish. Letters come with two dashes. */
function readLine(line: string): readonly Suggestion[] {
  const [word = '', about = ''] = line.split('\t')
  return /^--.$/u.test(word) ? [] : [{ word, about }]
}

/** The types of yargs leave out what it knows of the options. */
function switchesOf(cli: Argv): readonly string[] {
  const { boolean } = (cli as Argv & DescribedOptions).getOptions()
  return boolean
}

interface DescribedOptions {
  getOptions(): { readonly boolean: readonly string[] }
}

/** Characters that mean nothing to bash. Those beyond ASCII are letters to it. */
const plain = /[A-Za-z0-9_.,:@%+=/^-]/

/** `word` as one that bash takes literally, wherever it stands in a line. */
export function quoteForBash(word: string): string {
  return Array.from(word, (character) =>
    plain.test(character) || character > '\u007f' ? character : `\\${character}`,
  ).join('')
}
