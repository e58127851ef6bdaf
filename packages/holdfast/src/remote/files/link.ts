import { withNames, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast link NAME…`. */
export const link: ClientVerb = {
  command: 'link [names..]',
  describe: 'Make links that open files without a password',
  flags: ['expires-in', 'inline', 'upload', 'prefix', 'max-files', 'max-size', 'replace'],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; * ? and [ stand for others; after -- if one begins with a dash',
    )
      .option('expires-in', {
        type: 'string',
        requiresArg: true,
        defaultDescription: '1h',
        describe: 'How long the link is good, such as 30m, 12h or 7d',
      })
      .option('inline', {
        type: 'boolean',
        describe:
          'Have browsers show pictures, audio, video, plain text and PDF instead of saving them',
      })
      .option('upload', {
        type: 'boolean',
        describe: 'Make a link by which others upload a file of this name, which need not exist',
      })
      .option('prefix', {
        type: 'boolean',
        group: 'With --upload:',
        describe: 'Take many files, whose names begin with NAME',
      })
      .option('max-files', {
        type: 'string',
        requiresArg: true,
        group: 'With --upload:',
        defaultDescription: '100',
        describe: 'With --prefix: the most files there may be whose names begin so',
      })
      .option('max-size', {
        type: 'string',
        requiresArg: true,
        group: 'With --upload:',
        describe: 'The largest file, such as 50MB',
      })
      .option('replace', {
        type: 'boolean',
        group: 'With --upload:',
        describe: 'Let uploads replace files; without it they only create',
      })
      .example('$0 link notes.txt --expires-in 7d', 'whoever has the link may download the file')
      .example('$0 link from-bob- --upload --prefix --max-size 50MB', 'Bob may send files')
      .epilog(
        'The links are on standard output, one a line. A link cannot be taken back; all of a customer end with a new password.',
      ),
  run: async (argv) => (await import('./run-link.ts')).runLink(argv),
}
