import { withNames, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast stat NAME…`. */
export const stat: ClientVerb = {
  command: 'stat [names..]',
  describe: 'Show what is known of files',
  flags: [],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; * ? and [ stand for others; after -- if one begins with a dash',
    )
      .example('$0 stat notes.txt', 'size, time, type and entity tag')
      .example('$0 stat notes.txt --json', 'for a program'),
  run: async (argv) => (await import('./run-stat.ts')).runStat(argv),
}
