import { adviceOf } from '@holdfast/core'
import type { Argv } from 'yargs'
import { off, parserConfiguration, showWords } from '../terminal/yargs.ts'
import { usageError } from './errors.ts'

/** A command that sends requests to a server, as a customer. */
export interface ClientVerb {
  /** The verb and its words, as yargs writes them: `get [names..]`. */
  readonly command: string
  /** What stands in a help text for `[names..]`. Default: `NAME...`. */
  readonly words?: string
  readonly describe: string
  readonly options: (yargs: Argv) => Argv
  /** The flags that only this verb has; used to guess misspelt flags. */
  readonly flags: readonly string[]
  /** Resolves with the exit code. It loads its other modules itself, since the start must be fast. */
  readonly run: (argv: VerbArguments) => Promise<number>
}

/** The flags and words on the command line. */
export interface VerbArguments {
  readonly json?: boolean
  readonly literal?: boolean
  /** `[undefined]` if there are none. */
  readonly names?: readonly (string | undefined)[]
  /** The words after `--`, which yargs does not take as positionals. */
  readonly '--'?: readonly string[]
  readonly [flag: string]: unknown
}

/** The names that were given, before and after `--`. */
export function namesIn({ names = [], '--': rest = [] }: VerbArguments): readonly string[] {
  return [...names, ...rest].filter((name) => name !== undefined).map(showWords)
}

/** The value of a flag; the last one, if there are several. */
export function textIn(argv: VerbArguments, flag: string): string | undefined {
  const value = argv[flag]
  const last: unknown = Array.isArray(value) ? value.at(-1) : value
  return typeof last === 'string' ? showWords(last) : undefined
}

/** All values of a flag that may be given several times. */
export function textsIn(argv: VerbArguments, flag: string): readonly string[] {
  const value: unknown = argv[flag]
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((each) => typeof each === 'string').map(showWords)
}

/** The value of a flag, read by `parse`. @throws CommandError for a text that `parse` refuses by a RangeError */
export function parsed<T>(
  argv: VerbArguments,
  flag: string,
  parse: (text: string) => T,
): T | undefined {
  const text = textIn(argv, flag)
  if (text === undefined) return undefined
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { problem, remedies } = adviceOf(error)
    throw usageError(`--${flag} "${text}" ${problem}`, remedies)
  }
}

/** Takes several words as `names`; otherwise yargs would take only the last. */
export function withWords(yargs: Argv, describe: string): Argv {
  return (
    yargs
      .parserConfiguration({ ...parserConfiguration, 'duplicate-arguments-array': true })
      // Without this, yargs shows an empty list as the default; with it, no names are `[undefined]`.
      .positional('names', { type: 'string', array: true, describe, default: undefined })
  )
}

/** The flags that every verb has. */
export const commonFlags = ['json', 'quiet', 'profile'] as const

/** `--json`, and the other flags that every verb has. */
export function withJson(yargs: Argv): Argv {
  return yargs
    .option('json', { ...off, describe: 'Print a line of JSON for each name on standard output' })
    .option('quiet', {
      alias: 'q',
      ...off,
      describe: 'Report only failures, and what was asked for',
    })
    .option('profile', {
      type: 'string',
      requiresArg: true,
      describe: 'The saved login of this name, for one of several servers',
    })
}

/** `--limit-rate`, of verbs that move content. */
export function withLimitRate(yargs: Argv): Argv {
  return yargs.option('limit-rate', {
    type: 'string',
    requiresArg: true,
    describe: 'Bytes in a second for all transfers together, such as 500k or 2M',
  })
}

/** `--concurrency`, of verbs that move content or restore files. */
export function withConcurrency(yargs: Argv): Argv {
  return yargs.option('concurrency', {
    type: 'string',
    requiresArg: true,
    default: '8',
    describe: 'Files at a time, 1 to 64',
  })
}

/** `--version` of a file, in place of the program's. */
export function withVersion(yargs: Argv, describe: string): Argv {
  return yargs.version(false).option('version', { type: 'string', requiresArg: true, describe })
}

/** Adds names on the server, which may be patterns. */
export function withNames(yargs: Argv, describe: string): Argv {
  return withJson(withWords(yargs, describe)).option('literal', {
    ...off,
    describe: 'Take *, ? and [ in names literally',
  })
}
