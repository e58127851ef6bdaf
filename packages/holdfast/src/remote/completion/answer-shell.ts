import { basename } from 'node:path'
import type { Argv, FallbackCompletionFunction } from 'yargs'
import { createClient } from '@holdfast/client'
import { programName } from '@holdfast/credentials-file/messages'
import { refuseStrayWords } from '../../flags.ts'
import { print } from '../../terminal/print.ts'
import { shells, type Shell, completionScript } from './completion-script.ts'
import { findLogin, profileNames } from '../profile.ts'
import { usageError } from '../errors.ts'
import type { ClientVerb, VerbArguments } from '../client-verb.ts'

/** Prints the words that may come next, for the script of {@link completionScript}; resolves with the exit code. */
export async function answerShell(
  describe: () => Argv,
  [name, ...words]: readonly string[],
): Promise<number> {
  const shell = shells.find((each) => each === name)
  if (shell === undefined) return 2
  // Yargs describes its words only for some shells, which it recognizes by this variable.
  process.env['SHELL'] = 'fish'
  const lines = await complete(describe(), shell, words, findNames)
  await print(lines.map((line) => `${line}\n`).join(''))
  return 0
}

/**
 * The lines for the script of {@link completionScript}. For zsh and fish, `words` are those after the program's name; for bash, the line
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
  // After an open quote readline would take backslashes literally.
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
  /** The last word is the one at the cursor; it may be empty. */
  readonly words: readonly ShellWord[]
  /** Whether the last word has a quote that is still open. */
  readonly isQuoted: boolean
}

/** A word part: quoted, a character after a backslash, or a plain one. The closing quote may be missing at the end. */
const part = /'([^']*)('|$)|"((?:\\[^]|[^"\\])*)("|\\?$)|\\([^]|$)|([^\s'"\\]+)/y

/** Splits the line before the cursor as bash does, but expands no variables and patterns. */
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

/** `'files'`: the next word is a file of this machine. */
export type Suggestions = readonly Suggestion[] | 'files'

/** Names on the server that begin with a text, for a command, by the login of a profile. For `--profile`, names of profiles. */
type FindNames = (prefix: string, command: string, profile?: string) => Promise<readonly string[]>

/** The commands whose words are names of files on the server. */
const takeNames = ['get', 'cat', 'ls', 'mv', 'rm', 'stat', 'versions', 'restore', 'link']

/**
 * What may come at the end of `words`, the words of a command line after the program's name. The last one may be empty. `cli` describes
 * the commands and options.
 */
export async function suggestWords(
  cli: Argv,
  words: readonly string[],
  findNames: FindNames,
): Promise<Suggestions> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const isAfterDashes = before.includes('--')
  const known = isAfterDashes ? { suggestions: [], switches: [] } : await yargsWords(cli, words)
  if (!isAfterDashes && before.at(-1) === profileFlag) {
    return (await findNames(current, profileFlag)).map((word) => ({ word, about: '' }))
  }
  const fitting = known.suggestions.filter(({ word }) => word.startsWith(current))
  if (current.startsWith('-') && !isAfterDashes) return fitting
  // Yargs suggests options if it knows nothing else.
  const others = fitting.filter(({ word }) => !word.startsWith('-'))
  if (others.length > 0) return others
  const command = before.find((word) => !word.startsWith('-'))
  if (command === undefined) return []
  const isValue = !isAfterDashes && optionTakesValue(before.at(-1), known.switches)
  if (isValue || !takeNames.includes(command)) return 'files'
  const names = await findNames(current, command, profileIn(before))
  return names
    .filter((name) => isShowable(name) && (isAfterDashes || !name.startsWith('-')))
    .map((word) => ({ word, about: '' }))
}

const profileFlag = '--profile'

/** The profile that the words name, if they name one. */
function profileIn(words: readonly string[]): string | undefined {
  const joined = words.findLast((word) => word.startsWith(`${profileFlag}=`))
  if (joined !== undefined) return joined.slice(profileFlag.length + 1)
  const at = words.lastIndexOf(profileFlag)
  return at < 0 ? undefined : words[at + 1]
}

/** Whether a terminal shows the name as it is, so that users see what completion has inserted. */
function isShowable(name: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}]/u.test(name)
}

/** A word that may come next. */
interface Suggestion {
  readonly word: string
  readonly about: string
}

/** What yargs suggests for the end of a command line. */
interface YargsWords {
  readonly suggestions: readonly Suggestion[]
  /** Options without a value, without their dashes. */
  readonly switches: readonly string[]
}

/** Commands, options and choices that may come at the end of `words`, including those that do not begin as the last word does. */
async function yargsWords(cli: Argv, words: readonly string[]): Promise<YargsWords> {
  let found: YargsWords = { suggestions: [], switches: [] }
  // A callback receives the words: for a command, an inner run of yargs makes them, and would otherwise print them.
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

/** Whether the next word is the value of `option`. */
function optionTakesValue(option: string | undefined, switches: readonly string[]): boolean {
  const [, name] = /^--?([^=]+)$/.exec(option ?? '') ?? []
  return name !== undefined && !switches.includes(name)
}

/** For fish, yargs puts a tab before the description. It writes one-letter options with two dashes. */
function readLine(line: string): readonly Suggestion[] {
  const [word = '', about = ''] = line.split('\t')
  return /^--.$/u.test(word) ? [] : [{ word, about }]
}

/** The types of yargs lack this method. */
function switchesOf(cli: Argv): readonly string[] {
  const { boolean } = (cli as Argv & DescribedOptions).getOptions()
  return boolean
}

interface DescribedOptions {
  getOptions(): { readonly boolean: readonly string[] }
}

/** Characters that mean nothing special to bash. It takes those beyond ASCII as letters. */
const plain = /[A-Za-z0-9_.,:@%+=/^-]/

/** Escapes `word` so that bash takes it literally at any place in a line. */
export function quoteForBash(word: string): string {
  return Array.from(word, (character) =>
    plain.test(character) || character > '\u007f' ? character : `\\${character}`,
  ).join('')
}

/** Users of a shell do not wait longer. */
const patienceMs = 3_000
/** The most names in one response. */
const most = 1_000

/**
 * Names on the server that begin with `prefix`: all of them, or none if they are too many, since a shell would then complete what only
 * some have in common. Also none without a login, or after any error. For `restore` they are those of deleted files.
 */
export async function findNames(
  prefix: string,
  command = '',
  profile?: string,
): Promise<readonly string[]> {
  const names: string[] = []
  try {
    if (command === profileFlag) {
      const profiles = await profileNames(process.env)
      return profiles.filter((name) => name.startsWith(prefix))
    }
    const client = createClient({ ...(await findLogin(process.env, profile)), retries: 0 })
    const signal = AbortSignal.timeout(patienceMs)
    const found =
      command === 'restore'
        ? namesOf(client.deleted({ prefix, signal }))
        : client.list({ prefix, signal })
    for await (const name of found) {
      if (names.push(name) === most) return []
    }
    return names
  } catch {
    return []
  }
}

async function* namesOf(
  entries: AsyncIterable<{ readonly name: string }>,
): AsyncGenerator<string, void> {
  for await (const { name } of entries) yield name
}

/** `holdfast completion [SHELL]`. */
export const completion: ClientVerb = {
  command: 'completion [shell]',
  describe: 'Print a script by which a shell completes commands, options and names',
  flags: [],
  options: (yargs) =>
    yargs
      .positional('shell', { choices: shells, describe: 'Without it, the one that $SHELL names' })
      .example('source <($0 completion bash)', 'in ~/.bashrc')
      .example('source <($0 completion zsh)', 'in ~/.zshrc, after compinit')
      .example('$0 completion fish > ~/.config/fish/completions/holdfast.fish', '')
      .epilog(
        'Names on the server are completed if there is a login, for get, cat, ls, mv, rm, stat, versions, restore and link.',
      ),
  async run(argv) {
    await print(completionScript(shellFrom(argv, process.env['SHELL']), programName()))
    return 0
  },
}

function shellFrom(argv: VerbArguments, ownShell = ''): Shell {
  refuseStrayWords(argv)
  const name = argv['shell'] ?? basename(ownShell)
  const shell = shells.find((each) => each === name)
  if (shell === undefined) throw usageError(`Say which shell: ${shells.join(', ')}.`)
  return shell
}
