import { confirm, isTerminal, mostUnasked } from '../terminal/ask.ts'
import { CommandError, exitCodes, usageError } from './errors.ts'
import { endsCommand, expandNames } from './names.ts'
import { withRemote, type Remote } from './session.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  withNames,
  withJson,
  withWords,
} from './client-verb.ts'
import { off } from '../terminal/yargs.ts'

/** `holdfast rm NAME…`. */
export const rm: ClientVerb = {
  command: 'rm [names..]',
  describe: 'Delete files',
  flags: ['dry-run', 'force'],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; *, ? and [ are wildcards; after -- if one begins with a dash',
    )
      .option('dry-run', {
        alias: 'n',
        ...off,
        describe: 'Only show what would be deleted',
      })
      .option('force', {
        alias: 'f',
        ...off,
        describe: `Delete more than ${mostUnasked} files without a question`,
      })
      .example('$0 rm notes.txt', 'for good, unless the server keeps what is deleted')
      .example("$0 rm 'holiday-*.jpg'", 'all that match; the quotes keep the shell from reading it')
      .epilog(
        `On a terminal it asks before it deletes more than ${mostUnasked} files. If a name or a pattern has no file, the exit code is 4; the others are deleted.`,
      ),
  run: runRm,
}

/** The most files that the server deletes in one request. */
const mostTogether = 10_000

/** Deletes the files named; resolves with the exit code. */
function runRm(argv: VerbArguments): Promise<number> {
  const asks = argv['force'] !== true && argv.json !== true && isTerminal()
  return withRemote(argv, async (remote) => {
    const found = expandNames(namesIn(argv), argv, remote)
    if (argv['dry-run'] === true) return showNames(found, remote)
    const names: string[] = []
    for await (const name of found) {
      names.push(name)
      // The question needs the number of all files.
      if (!asks && names.length === mostTogether) await deleteTogether(names.splice(0), remote)
    }
    const question = `Delete ${names.length} files?`
    if (asks && names.length > mostUnasked && !(await confirm(question, remote.signal))) {
      throw new CommandError(exitCodes.failed, 'Nothing was deleted.')
    }
    while (names.length > 0) await deleteTogether(names.splice(0, mostTogether), remote)
  })
}

async function showNames(names: AsyncIterable<string>, { report }: Remote): Promise<void> {
  for await (const name of names) {
    await report.done({ name, deleted: false }, `Would delete ${name}`)
  }
}

/**
 * Deletes files in one request. Each is deleted or fails on its own, and is reported on its own.
 *
 * @throws the errors after which the rest of the command is pointless
 */
async function deleteTogether(
  names: readonly string[],
  { client, answers, report, signal }: Remote,
): Promise<void> {
  let reported = 0
  try {
    for await (const { name, error } of client.deleteMany(names, { signal })) {
      reported++
      if (error) await report.failed(name, error)
      else await report.done({ name, deleted: true }, `Deleted ${name}`)
    }
  } catch (error) {
    if (signal.aborted || (await endsCommand(error, { answers, signal }))) throw error
    // These may or may not be deleted.
    for (const name of names.slice(reported)) await report.failed(name, error)
  }
}

/** `holdfast mv NAME NEW-NAME`. */
export const mv: ClientVerb = {
  command: 'mv [names..]',
  words: 'NAME NEWNAME',
  describe: 'Give a file another name',
  flags: ['no-clobber'],
  options: (yargs) =>
    withJson(
      withWords(
        yargs,
        'The name on the server, and the new one; after -- if one begins with a dash',
      ),
    )
      .option('no-clobber', {
        ...off,
        describe: 'Replace no file: if the new name is taken, the command fails',
      })
      .example('$0 mv draft.txt final.txt', 'replaces a file called final.txt')
      .example('$0 mv draft.txt final.txt --no-clobber', 'fails if there is one')
      .epilog(
        'Both names are taken as they stand, without wildcards. Links to the earlier name open whatever has that name when they are used.',
      ),
  run: runMv,
}

/** Renames a file; resolves with the exit code. */
function runMv(argv: VerbArguments): Promise<number> {
  const [name, to, ...others] = namesIn(argv)
  if (name === undefined || to === undefined || others.length > 0) {
    throw usageError('mv needs two names: that of the file, and the new one', [
      'There are no folders to move several files into.',
    ])
  }
  return withRemote(argv, async ({ client, report, signal }) => {
    try {
      await client.rename(name, to, { createOnly: argv['no-clobber'] === true, signal })
      await report.done({ name, to, renamed: true }, `Renamed ${name} to ${to}`)
    } catch (error) {
      if (signal.aborted) throw error
      await report.failed(name, error)
    }
  })
}
