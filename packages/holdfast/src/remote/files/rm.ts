import { withNames, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast rm NAME…`. */
export const rm: ClientVerb = {
  command: 'rm [names..]',
  describe: 'Delete files',
  flags: [],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; * ? and [ stand for others; after -- if one begins with a dash',
    )
      .example('$0 rm notes.txt', 'deletes it for good')
      .example("$0 rm 'holiday-*.jpg'", 'all that match; the quotes keep the shell from reading it')
      .epilog(
        'Nothing is asked. A name or a pattern that has no file ends with 4; the others are deleted.',
      ),
  run: async (argv) => (await import('./run-rm.ts')).runRm(argv),
}
