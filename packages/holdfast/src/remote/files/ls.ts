import { withJson, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast ls [PREFIX]`. */
export const ls: ClientVerb = {
  command: 'ls [prefix]',
  describe: 'List files',
  flags: ['long'],
  options: (yargs) =>
    withJson(yargs)
      .positional('prefix', {
        type: 'string',
        describe:
          'Only names that begin with this; with * ? or [ in it, only names that match as a whole',
      })
      .option('long', {
        alias: 'l',
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Show sizes and times, too',
      })
      .option('literal', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Take *, ? and [ as they are',
      })
      .example('$0 ls', 'the names of all files, in the order of their bytes')
      .example('$0 ls -l holiday-', 'those that begin so, with sizes and times')
      .example("$0 ls '*.jpg' --json", 'those that end so, for a program')
      .epilog('If a prefix or a pattern is given and no file has it, the exit code is 4.'),
  run: async (argv) => (await import('./run-ls.ts')).runLs(argv),
}
