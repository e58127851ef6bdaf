import { withConcurrency, withNames, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast get NAME…`. */
export const get: ClientVerb = {
  command: 'get [names..]',
  describe: 'Download files',
  flags: ['output', 'force', 'concurrency'],
  options: (yargs) =>
    withConcurrency(withNames(yargs, 'Files on the server, or patterns such as "*.jpg"'))
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'A directory, or the path of one file, or - for standard output; by default here',
      })
      .option('force', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Replace files of this machine that differ, without a question',
      })
      .example('$0 get "*.jpg" -o pictures/', '')
      .epilog(
        'A file appears when all of it is there and synced. One of that name that differs is replaced only with --force, after a question on a terminal, or where -o names the file itself. Until then it is beside it as .holdfast-….part; the same command again goes on with a large one where it stopped, unless the file on the server is another one by then.',
      ),
  run: async (argv) => (await import('./run-get.ts')).runGet(argv),
}
