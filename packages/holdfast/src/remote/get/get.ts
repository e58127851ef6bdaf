import { withConcurrency, withNames, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast get NAME…`. */
export const get: ClientVerb = {
  command: 'get [names..]',
  describe: 'Download files',
  flags: ['output', 'concurrency'],
  options: (yargs) =>
    withConcurrency(withNames(yargs, 'Files on the server, or patterns such as "*.jpg"'))
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'A directory, or the path of one file, or - for standard output; by default here',
      })
      .example('$0 get "*.jpg" -o pictures/', '')
      .epilog(
        'A file appears when all of it is there and synced, in place of one of that name. Until then it is beside it as .holdfast-….part; the same command again goes on with a large one where it stopped, unless the file on the server is another one by then.',
      ),
  run: async (argv) => (await import('./run-get.ts')).runGet(argv),
}
