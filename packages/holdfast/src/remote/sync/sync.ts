import { withConcurrency, withJson, withWords, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast sync DIR`. */
export const sync: ClientVerb = {
  command: 'sync [names..]',
  describe: 'Send what is new or changed in a directory',
  flags: ['into', 'concurrency', 'dry-run', 'delete', 'max-delete'],
  options: (yargs) =>
    withConcurrency(withJson(withWords(yargs, 'The directory')))
      // Each of them may hold a form of small files.
      .default('concurrency', '4')
      .option('into', {
        type: 'string',
        requiresArg: true,
        describe:
          'A folder that the names on the server begin with: "photos" makes "photos - a.jpg" of a.jpg',
      })
      .option('dry-run', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Print what would be sent and deleted, and change nothing',
      })
      .option('delete', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Delete files on the server that are not in the directory',
      })
      .option('max-delete', {
        type: 'string',
        requiresArg: true,
        defaultDescription: '100',
        describe: 'With --delete: change nothing if more files than this would be deleted',
      })
      .example('$0 sync ./photos --into photos', 'photos/sea/a.jpg becomes "photos - sea - a.jpg"')
      .example('$0 sync ./photos --into photos --delete --dry-run', '')
      .epilog(
        'Names have no slash, so those of a path are joined by " - ". Symbolic links and special files are not sent. The same command again goes on where an earlier one ended.',
      ),
  run: async (argv) => (await import('./run-sync.ts')).runSync(argv),
}
