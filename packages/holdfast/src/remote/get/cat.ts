import { withNames, type ClientVerb } from '../verb/client-verb.ts'

/** `holdfast cat NAME…`. */
export const cat: ClientVerb = {
  command: 'cat [names..]',
  describe: 'Print the content of files',
  flags: [],
  options: (yargs) =>
    withNames(yargs, 'Files on the server, or patterns such as "*.log"').example(
      '$0 cat notes.txt | less',
      '',
    ),
  run: async (argv) => (await import('./run-cat.ts')).runCat(argv),
}
