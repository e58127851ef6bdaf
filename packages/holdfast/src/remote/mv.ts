import { usageError } from './errors.ts'
import { withRemote } from './session.ts'
import { type ClientVerb, type VerbArguments, namesIn, withJson, withWords } from './client-verb.ts'
import { off } from '../terminal/yargs.ts'

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
