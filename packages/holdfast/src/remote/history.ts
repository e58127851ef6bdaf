import { type DeletedFile, type FileVersion, isHoldfastError, type Client } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { parseTime } from '@holdfast/server/config'
import { parseConcurrency } from '../flags.ts'
import { confirm, isTerminal, mostUnasked } from '../terminal/ask.ts'
import { localTime, shown } from '../terminal/print.ts'
import { CommandError, exitCodes, usageError } from './errors.ts'
import { forEachName } from './names.ts'
import { isPattern, createMatcher, fixedStart } from './selection.ts'
import { withTransfers, type RemoteWithScreen, withRemote } from './session.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  parsed,
  textIn,
  withConcurrency,
  withNames,
  withVersion,
  withJson,
  withWords,
} from './client-verb.ts'
import type { Report } from './report.ts'
import { off } from '../terminal/yargs.ts'

/** `holdfast restore NAME…`. */
export const restore: ClientVerb = {
  command: 'restore [names..]',
  describe: 'Bring back earlier versions and deleted files',
  flags: [
    ...['version', 'as', 'no-clobber', 'all-deleted', 'since', 'prefix'],
    ...['dry-run', 'force', 'concurrency'],
  ],
  options: (yargs) =>
    withVersion(
      withConcurrency(
        withNames(
          yargs,
          'Names on the server; *, ? and [ are wildcards for deleted files; after -- if one begins with a dash',
        ),
      ),
      'The version, as `versions` prints it; by default what was replaced or deleted last',
    )
      .option('as', {
        type: 'string',
        requiresArg: true,
        describe: 'The name to restore the file under; by default its own',
      })
      .option('no-clobber', {
        ...off,
        describe: 'Replace no file: if the name is taken, the file is not restored',
      })
      .option('all-deleted', { ...off, describe: 'Instead of names: restore all deleted files' })
      .option('since', {
        type: 'string',
        requiresArg: true,
        describe:
          'With --all-deleted: only those deleted from this time on, such as 2h, 3d or 2026-11-21T02:45:56Z',
      })
      .option('prefix', {
        type: 'string',
        requiresArg: true,
        describe: 'With --all-deleted: only names that begin with this',
      })
      .option('dry-run', {
        alias: 'n',
        ...off,
        describe: 'Only show what would be restored',
      })
      .option('force', {
        alias: 'f',
        ...off,
        describe: `Restore more than ${mostUnasked} files without a question`,
      })
      .example('$0 restore notes.txt', 'as it was before it was last replaced or deleted')
      .example('$0 restore notes.txt --version 5yxyd-g --as old.txt', 'beside the present file')
      .example('$0 restore --all-deleted --since 2h', 'all that was deleted in the last two hours')
      .epilog(
        `It works where the server keeps what is replaced or deleted. A present file is replaced, and becomes an earlier version itself. On a terminal it asks before it restores more than ${mostUnasked} files. If nothing is kept of a name, the exit code is 4; the others are restored.`,
      ),
  run: runRestore,
}

/** A file to restore. */
interface Restoration {
  readonly name: string
  /** `undefined` for what was replaced or deleted last. */
  readonly version?: string | undefined
  /** What the server says of it, where it was listed. */
  readonly found?: DeletedFile
}

interface RestoreOptions {
  readonly as: string | undefined
  readonly createOnly: boolean
}

/** Restores the files named, or all deleted ones, several at a time; resolves with the exit code. */
function runRestore(argv: VerbArguments): Promise<number> {
  const choose = chooserOf(argv)
  const concurrency = parseConcurrency(textIn(argv, 'concurrency') ?? '')
  const options = { as: textIn(argv, 'as'), createOnly: argv['no-clobber'] === true }
  const asks = argv['force'] !== true && argv.json !== true && isTerminal()
  return withTransfers(argv, async (remote) => {
    const chosen = choose(remote)
    if (argv['dry-run'] === true) return showRestorations(chosen, options, remote)
    // Only a terminal gets a question and progress, which need all of them.
    const all = isTerminal() ? await collect(chosen) : undefined
    const { length = 0 } = all ?? {}
    const bytes = (all ?? []).reduce((sum, { found }) => sum + (found?.size ?? 0), 0)
    if (asks && length > mostUnasked) {
      const question = `Restore ${length} files (${formatBytes(bytes)})?`
      if (!(await confirm(question, remote.signal))) {
        throw new CommandError(exitCodes.failed, 'Nothing was restored.')
      }
    }
    const display =
      length > mostUnasked ? remote.screen.begin(`Restoring ${length} files`, bytes) : undefined
    let done = 0
    const bounds = { ...remote, concurrency }
    try {
      await forEachName(all ?? chosen, nameOf, bounds, async (restoration, signal) => {
        try {
          await restoreOne(restoration, options, { ...remote, signal })
        } finally {
          done += restoration.found?.size ?? 0
          display?.update(done)
        }
      })
    } finally {
      display?.end()
    }
  })
}

const nameOf = ({ name }: Restoration) => name

async function restoreOne(
  { name, version }: Restoration,
  { as = name, createOnly }: RestoreOptions,
  { client, report, signal }: RemoteWithScreen,
): Promise<void> {
  try {
    await client.restore(name, { version, as, createOnly, signal })
  } catch (error) {
    throw explainMissingHistory(error)
  }
  const fields = { name, ...(as !== name && { as }), ...(version !== undefined && { version }) }
  await report.done(
    { ...fields, restored: true },
    `Restored ${name}${as === name ? '' : ` as ${as}`}`,
  )
}

/** Finds the files to restore. */
type Choose = (remote: RemoteWithScreen) => AsyncIterable<Restoration>

/** @throws CommandError for flags and names that exclude each other */
function chooserOf(argv: VerbArguments): Choose {
  const names = namesIn(argv)
  const version = textIn(argv, 'version')
  const isOne = version !== undefined || textIn(argv, 'as') !== undefined
  if (argv['all-deleted'] === true) {
    if (names.length > 0)
      throw usageError('--all-deleted restores all deleted files, and takes no names.')
    if (isOne) throw usageError('--version and --as are for one file: leave out --all-deleted.')
    return allDeleted(textIn(argv, 'prefix'), parsed(argv, 'since', parseTime))
  }
  for (const flag of ['since', 'prefix']) {
    if (argv[flag] !== undefined)
      throw usageError(`--${flag} is for all deleted files: add --all-deleted.`)
  }
  const [first, second] = names
  if (first === undefined) throw usageError('Say the name of a file, or --all-deleted.')
  if (isOne && second !== undefined)
    throw usageError('--version and --as are for one file, and there are several names.')
  return named(names, version, argv.literal === true || isOne)
}

function allDeleted(prefix: string | undefined, since = -Infinity): Choose {
  return async function* ({ client, report, signal }) {
    let found = 0
    for await (const file of explainingMissingHistory(client.deleted({ prefix, signal }))) {
      if (Date.parse(file.deleted) < since) continue
      found++
      yield restorationOf(file)
    }
    if (found === 0) report.note('No deleted file is kept that this selects.')
  }
}

function named(names: readonly string[], version: string | undefined, isLiteral: boolean): Choose {
  return async function* (remote) {
    const seen = new Set<string>()
    for (const word of names) {
      const isName = isLiteral || !isPattern(word)
      for await (const each of isName ? [{ name: word, version }] : matching(word, remote)) {
        if (!seen.has(each.name)) yield each
        seen.add(each.name)
      }
    }
  }
}

async function* matching(
  pattern: string,
  remote: RemoteWithScreen,
): AsyncGenerator<Restoration, void> {
  for await (const file of deletedMatches(pattern, remote)) yield restorationOf(file)
}

function restorationOf(found: DeletedFile): Restoration {
  return { name: found.name, version: found.version, found }
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function showRestorations(
  chosen: AsyncIterable<Restoration>,
  options: RestoreOptions,
  remote: RemoteWithScreen,
): Promise<void> {
  const bounds = { ...remote, concurrency: 1 }
  await forEachName(chosen, nameOf, bounds, async (restoration, signal) => {
    const { name } = restoration
    const { version, size, stored } = await lookAt(restoration, { ...remote, signal })
    const { as = name } = options
    const target = as === name ? '' : ` as ${as}`
    await remote.report.done(
      { name, ...(as !== name && { as }), version, restored: false },
      `Would restore ${name}${target}, ${formatBytes(size)}, stored ${localTime(stored)}`,
    )
  })
}

/** @throws CommandError if nothing is kept of the name, or not this version */
async function lookAt(
  { name, version, found }: Restoration,
  { client, signal }: RemoteWithScreen,
): Promise<{ readonly version: string; readonly size: number; readonly stored: string }> {
  if (found) return { ...found, stored: found.modified }
  for await (const each of explainingMissingHistory(client.versions(name, { signal }))) {
    if (version === undefined || version === each.version) {
      return { ...each, stored: each.modified }
    }
  }
  throw new CommandError(exitCodes.notFound, 'Version not found')
}

/** `holdfast versions NAME…`. */
export const versions: ClientVerb = {
  command: 'versions [names..]',
  describe: 'List the earlier versions of files',
  flags: [],
  options: (yargs) =>
    withJson(withWords(yargs, 'Names on the server; after -- if one begins with a dash'))
      .example('$0 versions notes.txt', 'what was replaced or deleted, newest first')
      .example('$0 get notes.txt --version 5yxyd-g -o old.txt', 'downloads one of them')
      .epilog(
        'A line has the size, the time when it was stored, the time when it was replaced or deleted, the version and the name. Names are taken as they stand, without wildcards. `ls --deleted` lists deleted files. An administrator removes versions by `versions purge`; a file called purge goes after --.',
      ),
  run: runVersions,
}

/** Prints a line for each earlier version, newest first; resolves with the exit code. */
function runVersions(argv: VerbArguments): Promise<number> {
  const names = namesIn(argv)
  if (names.length === 0) throw usageError('Say the name of a file.')
  return withRemote(argv, async (remote) => {
    const { client, report } = remote
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      for await (const version of explainingMissingHistory(client.versions(name, { signal }))) {
        await report.result(version, describe(version))
      }
    })
  })
}

function describe({ name, version, size, modified, replaced }: FileVersion): string {
  const times = `${localTime(modified)}  replaced ${localTime(replaced)}`
  return `${formatBytes(size).padStart(7)}  ${times}  ${shown(version)}  ${shown(name)}`
}

interface Search {
  readonly client: Client
  readonly report: Report
  readonly signal: AbortSignal
}

/** The deleted files that `pattern` matches, or the one that has exactly this name. A pattern that matches nothing is reported. */
async function* deletedMatches(
  pattern: string,
  { client, report, signal }: Search,
): AsyncGenerator<DeletedFile, void> {
  const isMatch = createMatcher(pattern)
  let found = 0
  const all = client.deleted({ prefix: fixedStart(pattern), signal })
  for await (const file of explainingMissingHistory(all)) {
    if (file.name !== pattern && !isMatch(file.name)) continue
    found++
    yield file
  }
  if (found > 0) return
  await report.failed(pattern, new CommandError(exitCodes.notFound, 'No deleted file matches.'))
}

/** Yields `entries`. If the server keeps no earlier versions, the error says so. */
export async function* explainingMissingHistory<Entry>(
  entries: AsyncIterable<Entry>,
): AsyncGenerator<Entry, void> {
  try {
    yield* entries
  } catch (error) {
    throw explainMissingHistory(error)
  }
}

/** Translates the error of a server that keeps nothing; returns any other error unchanged. */
function explainMissingHistory(error: unknown): unknown {
  if (!isHoldfastError(error, 'unknown-path')) return error
  const problem = 'The server keeps neither earlier versions nor deleted files.'
  return new CommandError(exitCodes.failed, problem, [], error)
}
