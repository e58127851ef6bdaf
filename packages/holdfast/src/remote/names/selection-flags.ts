import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Argv } from 'yargs'
import { usageError } from '../errors/command-error.ts'
import { textsIn, textIn, type VerbArguments } from '../verb/client-verb.ts'
import { selectPaths, type PathSelection } from './select-paths.ts'

/** The flags of {@link withSelection}. */
export const selectionFlags = ['exclude', 'include', 'files-from'] as const

/** `--exclude`, `--include` and `--files-from`; `of` says what they choose from. */
export function withSelection(
  yargs: Argv,
  of: string,
  list = `Only ${of} that this file lists`,
): Argv {
  return yargs
    .option('exclude', {
      type: 'string',
      requiresArg: true,
      describe: `Leave out ${of} that match, as in .gitignore: '*.log', 'cache/', 'a/**/b'; several times for several`,
    })
    .option('include', {
      type: 'string',
      requiresArg: true,
      describe: `Only ${of} that match, and that no --exclude leaves out; several times for several`,
    })
    .option('files-from', {
      type: 'string',
      requiresArg: true,
      describe: `${list}, one in a line; - for standard input`,
    })
}

/**
 * The selection that the patterns describe.
 *
 * @param list only these paths; `undefined`: all
 */
export function selectionIn(argv: VerbArguments, list?: readonly string[]): PathSelection {
  return selectPaths({
    include: patternsIn(argv, 'include'),
    exclude: patternsIn(argv, 'exclude'),
    paths: list && new Set(list.map((path) => path.replace(/^\.\//, ''))),
  })
}

/**
 * The lines of `--files-from`; `undefined` without it.
 *
 * @throws CommandError if it cannot be read
 */
export async function listedIn(argv: VerbArguments): Promise<readonly string[] | undefined> {
  const file = textIn(argv, 'files-from')
  if (file === undefined) return undefined
  const content = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8')).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw usageError(`--files-from cannot be read (${reason}).`)
    },
  )
  return content.split(/\r?\n/).filter((line) => line !== '')
}

function patternsIn(argv: VerbArguments, flag: string): readonly string[] {
  const patterns = textsIn(argv, flag)
  if (patterns.some((pattern) => /^\/*$/.test(pattern)))
    throw usageError(`--${flag} "" is no pattern.`)
  const negated = patterns.find((pattern) => pattern.startsWith('!'))
  if (negated !== undefined) {
    throw usageError(`--${flag} "${negated}": no pattern takes back what another one says.`, [
      String.raw`For a name that begins with an exclamation mark, write \!.`,
    ])
  }
  return patterns
}
