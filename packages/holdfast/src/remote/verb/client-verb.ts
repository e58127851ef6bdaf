import type { Argv } from 'yargs'
import { parserConfiguration, showWords } from '../../terminal/parser-configuration.ts'

/** A command that speaks to a server, as its customer. */
export interface ClientVerb {
  /** The verb and its words, as yargs has them: `get [names..]`. */
  readonly command: string
  readonly describe: string
  readonly options: (yargs: Argv) => Argv
  /** Its flags that other verbs do not have, to guess which one was meant. */
  readonly flags: readonly string[]
  /** Resolves with the exit code. What it needs beyond the command line is loaded in here, since the start is measured. */
  readonly run: (argv: VerbArguments) => Promise<number>
}

/** What the command line gives. */
export interface VerbArguments {
  readonly json?: boolean
  readonly literal?: boolean
  readonly names?: readonly string[]
  /** The words after `--`, which yargs does not take as positionals. */
  readonly '--'?: readonly string[]
  readonly [flag: string]: unknown
}

/** The names that were given, before and after `--`. */
export function namesIn({ names = [], '--': rest = [] }: VerbArguments): readonly string[] {
  return [...names, ...rest].map(showWords)
}

/** The value of a flag; the last one, if there are several. */
export function textIn(argv: VerbArguments, flag: string): string | undefined {
  const value = argv[flag]
  const last: unknown = Array.isArray(value) ? value.at(-1) : value
  return typeof last === 'string' ? showWords(last) : undefined
}

/** Several words as `names`, of which yargs takes the last otherwise. */
export function withWords(yargs: Argv, describe: string): Argv {
  return yargs
    .parserConfiguration({ ...parserConfiguration, 'duplicate-arguments-array': true })
    .positional('names', { type: 'string', array: true, describe })
}

/** `--json`, which every verb has. */
export function withJson(yargs: Argv): Argv {
  return yargs.option('json', {
    type: 'boolean',
    default: false,
    defaultDescription: 'no',
    describe: 'Print a line of JSON for each name on standard output',
  })
}

/** `--concurrency`, of verbs that move content. */
export function withConcurrency(yargs: Argv): Argv {
  return yargs.option('concurrency', {
    type: 'string',
    requiresArg: true,
    default: '8',
    describe: 'Files at a time, 1 to 64',
  })
}

/** Names on the server, with patterns. */
export function withNames(yargs: Argv, describe: string): Argv {
  return withJson(withWords(yargs, describe)).option('literal', {
    type: 'boolean',
    default: false,
    defaultDescription: 'no',
    describe: 'Take *, ? and [ in names as they are',
  })
}
