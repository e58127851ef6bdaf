import { withConcurrency, withJson, withWords, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast put FILE…`. */
export const put: ClientVerb = {
  command: 'put [names..]',
  describe: 'Upload files',
  flags: ['as', 'no-clobber', 'concurrency'],
  options: (yargs) =>
    withConcurrency(withJson(withWords(yargs, 'Files of this machine; - for standard input')))
      .option('as', {
        type: 'string',
        requiresArg: true,
        describe: 'The name on the server, for one file; without it, the last part of the path',
      })
      .option('no-clobber', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Replace no file: one whose name is taken fails',
      })
      .example('$0 put *.jpg', '')
      .example('tar c dir | $0 put - --as dir.tar', '')
      .epilog(
        'A file that is reported as stored is safe. The same command again goes on with a large file where it stopped. Directories are refused: name their files, such as dir/*, or see sync.',
      ),
  run: async (argv) => (await import('./run-put.ts')).runPut(argv),
}
