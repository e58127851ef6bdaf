import type { Argv, FallbackCompletionFunction } from 'yargs'

/** A word that may come next. */
export interface Suggestion {
  readonly word: string
  readonly about: string
}

/** What yargs knows of the place at the end of a command line. */
export interface YargsWords {
  readonly suggestions: readonly Suggestion[]
  /** Options without a value, without their dashes. */
  readonly switches: readonly string[]
}

/** Commands, options and choices that may come at the end of `words`, also such as do not begin as the last one does. */
export async function yargsWords(cli: Argv, words: readonly string[]): Promise<YargsWords> {
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
export function optionTakesValue(option: string | undefined, switches: readonly string[]): boolean {
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
